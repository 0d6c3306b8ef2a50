import * as fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { writeZone } from '../../../src/import/zone/write-zone.ts';
import { createTemplateLoader } from '../../../src/source/load.ts';
import { directoryWith, options, write } from '../../desired/load-files.ts';
import { serviceState } from '../../desired/service-state.ts';
import { textFor } from '../written.ts';
import { heldOf, shown } from './held.ts';

vi.setConfig({ testTimeout: 60_000 });

const origin = 'example.net';

const commentedIds = (text: string): number[] =>
  [...text.matchAll(/^; - record (\d+) /gm)].map(([, id]) => Number(id));

test('a template as a zone file is the same template, and says which records are missing', async () => {
  const directory = await directoryWith({});
  let count = 0;
  await fc.assert(
    fc.asyncProperty(serviceState, async (templates) => {
      for (const template of templates) {
        const text = writeZone(template.records, origin);
        expect(text).toMatch(/^(?:;.*\n|[\t!-~ ]+\n)*$/u);
        const commented = commentedIds(text);
        const kept = template.records.filter(({ id }) => !commented.includes(id));
        if (kept.length === 0) continue;
        const { records, leftOut } = heldOf(text, origin, 'zone');
        expect(leftOut).toEqual([]);
        expect(shown(records)).toEqual(shown(kept));

        count += 1;
        await write(`${directory}/${count}`, {
          'web.yaml': await textFor({ ...template, name: 'web', records }),
        });
        const state = await createTemplateLoader().load({
          ...options,
          paths: [`${directory}/${count}`],
          strict: true,
        });
        expect(state.problems).toEqual([]);
        expect(shown(state.templates.flatMap((one) => one.records))).toEqual(shown(kept));
      }
    }),
    { numRuns: 150 },
  );
  expect(count).toBeGreaterThan(50);
});
