import { expect, test } from 'vitest';
import { emptyCache } from '../../src/reconcile/cache.ts';
import { reconcile, type Pass } from '../../src/reconcile/pass.ts';
import type { ActualTemplate, DesiredState, DesiredTemplate } from '../../src/model/template.ts';
import type { PassResult } from '../../src/result.ts';
import { noMemories } from '../../src/state/memory.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { changesOf, rowOf, newEntry, newFile, opened } from '../state/samples.ts';
import { testClock } from '../clock.ts';

/** Passes over a template that keeps what it has, whatever is sent. */
const openScene = async (actual: ActualTemplate) => {
  const memory = await opened(newFile());
  const scene = {
    actual,
    pass: (desired: DesiredTemplate | DesiredState, more: Partial<Pass> = {}): Promise<PassResult> =>
      reconcile(
        'files' in desired ? desired : { templates: [desired], unusable: [], problems: [], files: 1 },
        {
          client: 'acme',
          run: 'run-1',
          trigger: 'schedule',
          startedAt: 0,
          templates: [],
          service: {
            listDnsTemplates: async () => [scene.actual],
            listDnsRecords: async () => [],
            addDnsTemplateRecord: async () => scene.actual,
            updateDnsTemplateRecord: async () => scene.actual,
          },
          listing: null,
          memory,
          writer: memory,
          clock: testClock(),
          signal: new AbortController().signal,
          onChange: () => undefined,
          warn: () => undefined,
          revisionOf: () => null,
          settle: 10_000,
          unknownPause: 300_000,
          subdomainGrace: 900_000,
          maxAddsPerPass: 300,
          concurrency: 1,
          ignoreSubdomains: false,
          force: false,
          retry: false,
          acceptLoss: false,
          ...more,
        },
      ),
  };
  return scene;
};

const stateOf = (): DesiredState => ({
  templates: [desiredTemplate(['@ A 192.0.2.1'])],
  unusable: [],
  problems: [],
  files: 1,
});

/** Passes over one template, the last of which found nothing new. */
const afterQuietPasses = async () => {
  const file = newFile();
  const memory = await opened(file);
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
  const cache = emptyCache();
  const desired = stateOf();
  const pass = (more: Partial<Pass> = {}, state = desired) =>
    scene.pass(state, { cache, memory, writer: memory, ...more });
  for (let quiet = 1; quiet <= 2; quiet += 1) await pass();
  const { templates } = await pass();
  return { scene, file, memory, pass, templates };
};

test('a pass with the same inputs gives the same result objects', async () => {
  const { pass, templates } = await afterQuietPasses();
  for (const turn of [1, 2]) expect((await pass()).templates, `${turn}`).toBe(templates);
});

test.each<[string, (last: Awaited<ReturnType<typeof afterQuietPasses>>) => Promise<PassResult | undefined>]>([
  ['files say something else', ({ pass }) => pass({}, stateOf())],
  [
    'memory cannot tell',
    ({ pass, memory }) => {
      const silent = { ...memory };
      delete silent.revisions;
      return pass({ memory: silent });
    },
  ],
  ['the pass before was allowed to write', ({ pass }) => pass({ writer: null })],
  [
    'the service answers something else',
    async ({ scene }) => {
      scene.actual = actualTemplate(['#1 @ A 192.0.2.1']);
      return undefined;
    },
  ],
  [
    'something is remembered anew',
    async ({ memory }) => {
      await memory.save(changesOf());
      return undefined;
    },
  ],
  [
    'another process has remembered something',
    async ({ file }) => {
      const other = await opened(file);
      await other.save(changesOf({ row: rowOf({ lastWriteAt: 1 }) }));
      return undefined;
    },
  ],
  [
    'a write has left, and nobody knows what became of it',
    async ({ memory }) => {
      await memory.begin(newEntry());
      return undefined;
    },
  ],
])('it compares everything if %s', async (_, change) => {
  const last = await afterQuietPasses();
  const { templates } = (await change(last)) ?? (await last.pass());
  expect(templates[0]).not.toBe(last.templates[0]);
});

test.each([
  ['in sync', desiredTemplate(['@ A 192.0.2.1'])],
  ['different, and written by nobody', desiredTemplate(['@ A 192.0.2.9'], { mode: 'report' })],
])('a template that is %s is not compared again while nothing changes', async (_, desired) => {
  const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
  const cache = emptyCache();
  // The first one saves what it saw, the second finds nothing new.
  await scene.pass(desired, { cache });
  await scene.pass(desired, { cache });
  const { templates } = await scene.pass(desired, { cache });
  expect((await scene.pass(desired, { cache })).templates[0]).toBe(templates[0]);
  scene.actual = actualTemplate(['#1 @ A 192.0.2.2']);
  expect((await scene.pass(desired, { cache })).templates[0]).not.toBe(templates[0]);
});

test.each([
  ['in sync', ['@ A 192.0.2.1'], true],
  ['different', ['@ A 192.0.2.9'], true],
  [
    'short of a record, of which all templates together may have too many',
    ['@ A 192.0.2.1', 'x A 192.0.2.2'],
    false,
  ],
])(
  'a dry run without saved state keeps the result of a template that is %s: %o',
  async (_, lines, isKept) => {
    const scene = await openScene(actualTemplate(['#1 @ A 192.0.2.1']));
    const more = { cache: emptyCache(), memory: noMemories, writer: null };
    const desired = desiredTemplate(lines);
    await scene.pass(desired, more);
    const { templates } = await scene.pass(desired, more);
    expect((await scene.pass(desired, more)).templates[0] === templates[0]).toBe(isKept);
    scene.actual = actualTemplate(['#1 @ A 192.0.2.2']);
    expect((await scene.pass(desired, more)).templates[0]).not.toBe(templates[0]);
  },
);
