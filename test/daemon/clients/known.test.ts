import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Known } from '../../../src/daemon/clients/known.ts';
import type { PassResult } from '../../../src/result.ts';
import { createTemplateLoader } from '../../../src/source/load.ts';
import { directoryWith, options, write } from '../../desired/load-files.ts';
import { pass, template } from '../../report/every-kind.ts';

const file = 'templates/web.yaml';
const problem = {
  client: 'acme',
  severity: 'error',
  check: 'x',
  file: null,
  line: null,
  column: null,
} as const;

const inSync = pass({ wasRead: true, templates: [template({ status: 'in-sync' })] });
const held = template({ template: 'b', status: 'held', message: 'for a reason' });
const failed = template({ template: 'c', status: 'failed', message: 'for another' });
const denied = pass({ wasRead: true, areTokensRejected: true, isDenied: true, holdReason: '401' });
const away = pass({ wasRead: false, holdReason: 'the service is away' });

/** What is known after passes that found this; a text: why one could not be made. */
const after = (...found: readonly (PassResult | string)[]): Known => {
  const known = new Known();
  for (const one of found)
    if (typeof one === 'string') known.add(null, one);
    else known.add(one, one.holdReason);
  return known;
};

describe('a client', () => {
  it.each<[string, readonly (PassResult | string)[], string, string | null, boolean]>([
    ['before its first pass has ended', [], 'starting', 'no pass has ended yet', false],
    ['in sync', [inSync], 'healthy', null, true],
    ['drifted', [{ ...inSync, templates: [template({ status: 'drifted' })] }], 'healthy', null, true],
    ['with a held template', [{ ...inSync, templates: [held] }], 'held', 'b: for a reason', true],
    ['with a failed one too', [{ ...inSync, templates: [held, failed] }], 'failing', 'c: for another', true],
    [
      'with a broken file',
      [{ ...inSync, templates: [held], problems: [{ ...problem, message: 'a fault' }] }],
      'failing',
      'a fault',
      true,
    ],
    ['whose first pass could not be made', ['no disk'], 'failing', 'no disk', false],
    ['whose first pass could not read', [away], 'failing', 'the service is away', false],
    ['that could be read before', [inSync, away], 'failing', 'the service is away', true],
    ['whose pass could not be made', [inSync, 'no disk'], 'failing', 'no disk', false],
    ['whose passes can be made again', ['no disk', inSync], 'healthy', null, true],
    ['whose tokens were never taken', [denied], 'denied', '401', false],
    ['whose tokens were taken before', [inSync, denied], 'denied', '401', true],
    ['whose tokens were not taken, before another reason', [denied, 'no disk'], 'failing', 'no disk', false],
    [
      'without template files',
      [{ ...inSync, templates: [], problems: [{ ...problem, check: 'no-templates', message: 'none' }] }],
      'failing',
      'none',
      false,
    ],
  ])('%s', (_, found, health, why, isReady) => {
    const known = after(...found);
    expect({ ...known.health(null), isReady: known.isReady }).toMatchObject({ health, why, isReady });
  });

  it('that can have no passes is compared no more', () => {
    expect(after(inSync).health(null).uncompared).toBe(null);
    expect(after(inSync).health('why')).toMatchObject({ health: 'failing', why: 'why', uncompared: 'why' });
  });
});

const unread = { status: 'failed', message: 'the service is away', asOf: null } as const;

describe('a service that cannot be read', () => {
  it('leaves the last known result of each template, with its time', () => {
    const web = template({ template: 'web', file, inSync: 2 });
    const before = { ...inSync, startedAt: '2026-11-20T20:00:00.000Z', templates: [web] };
    const now = [{ ...web, ...unread, inSync: 0 }, template({ template: 'new', ...unread })];
    const known = after(before, { ...away, templates: now }, { ...away, templates: now });
    expect(known.newest?.templates).toMatchObject([
      { ...unread, template: 'web', inSync: 2, asOf: before.startedAt },
      { template: 'new', asOf: null },
    ]);
    known.add(before, null);
    expect(known.newest?.templates[0]?.asOf).toBeUndefined();
  });
});

describe('a template whose file is gone', () => {
  /** The templates of files that are there, after those of the file `web.yaml` with this content. */
  const goneAfter = async (content: string | null): Promise<readonly string[]> => {
    const describing = (name: string): string =>
      `template: ${name}\nrecords:\n  - {type: A, content: 192.0.2.1}\n`;
    const folder = await directoryWith({ 'web.yaml': describing('web'), 'mail.yaml': describing('mail') });
    const loader = createTemplateLoader();
    const known = new Known();
    const passOver = async (): Promise<readonly string[]> => {
      const files = await loader.load({ ...options, paths: [folder] });
      known.begin(files);
      const names = files.templates.map((one) => template({ template: one.template, file: one.source.file }));
      const broken = files.unusable.map((one) =>
        template({ template: one.template ?? one.file, file: one.file }),
      );
      return known.add({ ...inSync, templates: [...names, ...broken] }, null);
    };
    expect(await passOver()).toEqual([]);
    if (content === null) await rm(path.join(folder, 'web.yaml'));
    else await write(folder, { 'web.yaml': content });
    const gone = await passOver();
    expect(await passOver()).toEqual([]);
    return gone;
  };

  it('is reported once', async () => {
    expect(await goneAfter(null)).toEqual(['web']);
  });

  it('is not reported while an unreadable file may describe it', async () => {
    expect(await goneAfter('template: [\n')).toEqual([]);
  });
});
