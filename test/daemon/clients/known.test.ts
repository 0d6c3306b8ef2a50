import { expect, it } from 'vitest';
import { KnownState } from '../../../src/daemon/clients/known.ts';
import type { DesiredState } from '../../../src/model/template.ts';
import type { PassResult } from '../../../src/result.ts';
import { pass, template } from '../../report/every-kind.ts';

const error = { client: 'acme', severity: 'error', file: null, line: null, column: null } as const;
const inSync = pass({ wasRead: true, templates: [template({ status: 'in-sync' })] });
const held = template({ template: 'b', status: 'held', message: 'for a reason' });
const failed = template({ template: 'c', status: 'failed', message: 'for another' });
const withTemplates = (...templates: PassResult['templates']) => ({ ...inSync, templates });
const broken = { ...withTemplates(held), problems: [{ ...error, check: 'x', message: 'a fault' }] };
const none = { ...withTemplates(), problems: [{ ...error, check: 'no-templates', message: 'none' }] };
const denied = pass({ wasRead: true, areTokensRejected: true, isDenied: true, holdReason: '401' });
const away = pass({ wasRead: false, holdReason: 'the service is away' });

/** What is known after passes that found this; a text: why one could not be made. */
const after = (...found: readonly (PassResult | string)[]): KnownState => {
  const known = new KnownState();
  for (const one of found)
    if (typeof one === 'string') known.add(null, one);
    else known.add(one, one.holdReason);
  return known;
};

it.each<[string, readonly (PassResult | string)[], string, string | null, boolean]>([
  ['before its first pass has ended', [], 'starting', 'no pass has ended yet', false],
  ['in sync', [inSync], 'healthy', null, true],
  ['drifted', [withTemplates(template({ status: 'drifted' }))], 'healthy', null, true],
  ['with a held template', [withTemplates(held)], 'held', 'b: for a reason', true],
  ['with a failed one too', [withTemplates(held, failed)], 'failing', 'c: for another', true],
  ['with a broken file', [broken], 'failing', 'a fault', true],
  ['whose first pass could not be made', ['no disk'], 'failing', 'no disk', false],
  ['whose first pass could not read', [away], 'failing', 'the service is away', false],
  ['that could be read before', [inSync, away], 'failing', 'the service is away', true],
  ['whose pass could not be made', [inSync, 'no disk'], 'failing', 'no disk', false],
  ['whose passes can be made again', ['no disk', inSync], 'healthy', null, true],
  ['whose tokens were never taken', [denied], 'denied', '401', false],
  ['whose tokens were taken before', [inSync, denied], 'denied', '401', true],
  ['whose tokens were not taken, before another reason', [denied, 'no disk'], 'failing', 'no disk', false],
  ['without template files', [none], 'failing', 'none', false],
  ['without those of its templates', [{ ...none, templates: [held] }], 'failing', 'none', false],
])('a client %s', (_, found, health, why, isReady) => {
  const known = after(...found);
  expect({ ...known.health(null), isReady: known.isReady }).toMatchObject({ health, why, isReady });
});

it('a client that can have no passes is compared no more', () => {
  expect(after(inSync).health(null).uncompared).toBe(null);
  expect(after(inSync).health('why')).toMatchObject({ health: 'failing', why: 'why', uncompared: 'why' });
});

it('a service that cannot be read leaves the last known result of each template, with its time', () => {
  const unread = { status: 'failed', message: 'the service is away', asOf: null } as const;
  const was = { status: 'suspended', message: 'suspended by a person' } as const;
  const web = template({ template: 'web', inSync: 2, ...was });
  const before = { ...withTemplates(web), startedAt: '2026-11-20T20:00:00.000Z' };
  const now = [{ ...web, ...unread, inSync: 0 }, template({ template: 'new', ...unread })];
  const known = after(before, { ...away, templates: now }, { ...away, templates: now });
  expect(known.newest?.templates).toMatchObject([
    { ...unread, template: 'web', inSync: 2, asOf: before.startedAt, was },
    { template: 'new', asOf: null },
  ]);
  known.add(before, null);
  expect(known.newest?.templates[0]?.asOf).toBeUndefined();
});

it.each([
  ['is reported once', null, null, ['web'], []],
  ['is reported once no unreadable file may describe it', 'web.yaml', null, [], ['web']],
  ['is reported once no directory that cannot be read may describe it', null, 'more', [], ['web']],
  [
    'is reported once no file that may be half uploaded may describe it',
    null,
    null,
    [],
    ['web'],
    'moved.yaml',
  ],
])('a template whose file is gone %s', (_, file, directory, gone, later, awaited = '') => {
  const known = after(withTemplates(template({ template: 'web' }), template({ template: 'mail' })));
  const unusable = file === null ? [] : [{ file, template: null }];
  const problems = directory === null ? [] : [{ check: 'unreadable', file: directory }];
  const half = awaited === '' ? {} : { awaited };
  known.begin({ templates: [], unusable, problems, files: 2, ...half } as unknown as DesiredState);
  const rest = withTemplates(template({ template: 'mail' }));
  expect([known.add(rest, null), known.add(rest, null)]).toEqual([gone, []]);
  known.begin({ templates: [], unusable: [], problems: [], files: 2 });
  expect([known.add(rest, null), known.add(rest, null)]).toEqual([later, []]);
});
