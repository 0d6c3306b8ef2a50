import { expect, test } from 'vitest';
import { emptyCache } from '../../src/reconcile/cache.ts';
import { reconcile, type Pass } from '../../src/reconcile/pass.ts';
import type { DesiredState, DesiredTemplate } from '../../src/model/template.ts';
import { noMemories } from '../../src/state/memory.ts';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { changesOf, rowOf, newEntry, newFile, opened } from '../state/samples.ts';
import { testClock } from '../clock.ts';

const stateOf = (lines = ['@ A 192.0.2.1'], more: Partial<DesiredTemplate> = {}): DesiredState => ({
  templates: [desiredTemplate(lines, more)],
  unusable: [],
  problems: [],
  files: 1,
});

/** Passes over a template that keeps what it has, whatever is sent. */
const openScene = async (given: Partial<Pass> = {}) => {
  const file = newFile();
  const memory = await opened(file);
  const scene = {
    file,
    memory,
    actual: actualTemplate(['#1 @ A 192.0.2.1']),
    pass: async (desired: DesiredState, more: Partial<Pass> = {}) => {
      const { templates } = await reconcile(desired, { ...usual, ...given, ...more });
      return templates;
    },
  };
  const usual: Pass = {
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
    cache: emptyCache(),
  };
  return scene;
};

/** The first pass saves what it saw, the second finds nothing new. */
const afterQuietPasses = async (desired = stateOf(), given: Partial<Pass> = {}) => {
  const scene = await openScene(given);
  await scene.pass(desired);
  await scene.pass(desired);
  return { ...scene, scene, desired, last: await scene.pass(desired) };
};

type Quiet = Awaited<ReturnType<typeof afterQuietPasses>>;

const withoutState = { memory: noMemories, writer: null };

test.each<[string, DesiredState, Partial<Pass>, boolean]>([
  ['in sync', stateOf(), {}, true],
  ['different, and written by nobody', stateOf(['@ A 192.0.2.9'], { mode: 'report' }), {}, true],
  ['in sync, without saved state', stateOf(), withoutState, true],
  ['different, without saved state', stateOf(['@ A 192.0.2.9']), withoutState, true],
  // All templates together may have too many adds.
  ['short of a record', stateOf(['@ A 192.0.2.1', 'x A 192.0.2.2']), withoutState, false],
])('the result of a template that is %s is kept while nothing changes', async (_, desired, given, isKept) => {
  const { scene, last } = await afterQuietPasses(desired, given);
  for (const turn of [1, 2]) expect((await scene.pass(desired))[0] === last[0], `pass ${turn}`).toBe(isKept);
  scene.actual = actualTemplate(['#1 @ A 192.0.2.2']);
  expect((await scene.pass(desired))[0]).not.toBe(last[0]);
});

test.each<[string, (quiet: Quiet) => unknown]>([
  ['files say something else', ({ pass }) => pass(stateOf())],
  [
    'memory cannot tell',
    ({ pass, memory, desired }) => {
      const silent = { ...memory };
      delete silent.revisions;
      return pass(desired, { memory: silent });
    },
  ],
  ['the pass before was allowed to write', ({ pass, desired }) => pass(desired, { writer: null })],
  [
    'the service answers something else',
    ({ scene }) => void (scene.actual = actualTemplate(['#1 @ A 192.0.2.1'])),
  ],
  ['something is remembered anew', ({ memory }) => memory.save(changesOf())],
  [
    'another process has remembered something',
    async ({ file }) => (await opened(file)).save(changesOf({ row: rowOf({ lastWriteAt: 1 }) })),
  ],
  ['a write has left, and nobody knows what became of it', ({ memory }) => memory.begin(newEntry())],
])('everything is compared again if %s', async (_, change) => {
  const quiet = await afterQuietPasses();
  const changed = await change(quiet);
  const templates = Array.isArray(changed) ? changed : await quiet.pass(quiet.desired);
  expect(templates[0]).not.toBe(quiet.last[0]);
});
