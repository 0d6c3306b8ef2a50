import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { bindTemplates } from '../../src/plan/bind.ts';
import { scalarText } from '../../src/import/entry.ts';
import { labelsOf } from '../../src/import/label.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import type { DesiredState, ActualTemplate } from '../../src/model/template.ts';
import { noMemory } from '../../src/plan/memory.ts';
import { planTemplate } from '../../src/plan/plan.ts';
import { anyText } from '../any-text.ts';
import { directoryWith, options, write } from '../desired/load-files.ts';
import { serviceState } from '../desired/service-state.ts';
import { textFor } from './written.ts';

vi.setConfig({ testTimeout: 60_000 });

const filesOf = async (templates: readonly ActualTemplate[]): Promise<Map<string, string>> => {
  const files = new Map<string, string>();
  for (const [template, label] of labelsOf(templates))
    files.set(label.fileName, await textFor(template, label));
  return files;
};

/** Writes each state into a place of its own and reads it again. */
const readAgain = async (): Promise<
  (files: Map<string, string>, strict: boolean) => Promise<DesiredState>
> => {
  const directory = await directoryWith({});
  let count = 0;
  return async (files, strict) => {
    count += 1;
    const place = join(directory, String(count));
    await write(place, Object.fromEntries(files));
    return createTemplateLoader().load({ ...options, paths: [place], strict });
  };
};

describe('files written from any state of the service', () => {
  test('have no problem or warning, and lead to no write', async () => {
    const load = await readAgain();
    await fc.assert(
      fc.asyncProperty(serviceState, async (templates) => {
        const state = await load(await filesOf(templates), true);
        expect(state.problems).toEqual([]);
        expect(state.files).toBe(templates.length);
        const bound = bindTemplates(state.templates, state.unusable, templates).flatMap((one) =>
          'actual' in one ? one : [],
        );
        expect(new Set(bound.map(({ actual }) => actual.id)).size).toBe(templates.length);
        for (const { desired, actual } of bound) {
          const { steps, blocked, inSync } = planTemplate({ desired, actual, memory: noMemory });
          expect({ steps, blocked }).toEqual({ steps: [], blocked: [] });
          expect(inSync).toBe(desired.records.length);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('are the same for any order of the listing', async () => {
    await fc.assert(
      fc.asyncProperty(serviceState, async (templates) => {
        const reversed = templates
          .map((template) => ({ ...template, records: template.records.toReversed() }))
          .toReversed();
        expect(await filesOf(reversed)).toEqual(await filesOf(templates));
      }),
      { numRuns: 80 },
    );
  });
});

test('any text is itself for readers of YAML 1.1 and 1.2', () => {
  const text = fc.oneof(
    anyText(),
    fc.stringMatching(/^[-+~=<*&!|>%@`?.:#,[\]{}'"\\ \tnoyesfx0-9_]{0,8}$/),
    fc.constantFrom(
      'y',
      'N',
      'no',
      'Off',
      'Null',
      'TRUE',
      '.inf',
      '0x1f',
      '1_000',
      'e0',
      '12:30',
      '---',
      '<<',
      '192.0.2.1',
    ),
  );
  fc.assert(
    fc.property(text, (value) => {
      const entry = `records:\n  - { name: ${scalarText(value)}, ttl: 1 }\n`;
      for (const version of ['1.1', '1.2'] as const)
        expect(parse(entry, { version })).toEqual({ records: [{ name: value, ttl: 1 }] });
    }),
    { numRuns: process.env['CI'] ? 2_000 : 300 },
  );
});
