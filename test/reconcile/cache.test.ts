import { expect, test } from 'vitest';
import { cachedPass, emptyCache, storePass, type ResultCache } from '../../src/reconcile/cache.ts';
import type { PassInputs } from '../../src/reconcile/request.ts';
import { unseenResult } from '../../src/reconcile/core/result.ts';
import type { DesiredState } from '../../src/model/template.ts';
import type { Memory } from '../../src/state/memory.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { changesOf, factsOf, intentOf, newFile, opened } from '../state/samples.ts';
import { openScene } from './pass.ts';
import { runWith } from './state.ts';

const stateOf = (): DesiredState => ({
  templates: [desiredTemplate(['@ A 192.0.2.1'])],
  unusable: [],
  problems: [],
  files: 1,
});

/** A pass in which the one template was in the cache, and what another pass with the very same would begin with. */
const afterCached = async () => {
  const file = newFile();
  const memory = await opened(file);
  await memory.save(changesOf());
  const described = stateOf();
  const actual = [presentTemplate(['#1 @ A 192.0.2.1'])];
  const inputsNow = async (): Promise<PassInputs> => ({
    desired: described,
    described,
    actual,
    revisions: (await memory.revisions?.()) ?? null,
  });
  const cache = emptyCache();
  const look = (inputs: PassInputs, writer: Memory | null = memory) =>
    cachedPass(inputs, cache, runWith({ memory, writer }));
  const facts = { client: 'acme', template: 'web', id: 17, file: 'web.yaml', revision: null };
  const result = { ...unseenResult(facts, 'held', ''), status: 'in-sync', message: null } as const;
  const bound = { desired: described.templates[0]!, present: actual[0]!, notes: [] };
  const rest = { bound, revision: '', facts: factsOf(), isDryRun: false, result };
  storePass(await inputsNow(), [rest], [result], cache, false);
  return { file, memory, look, inputsNow, result };
};

test('a pass that begins with the very same ends with the very same', async () => {
  const { look, inputsNow, result } = await afterCached();
  for (const turn of [1, 2]) expect((await look(await inputsNow()))?.results[0], `${turn}`).toBe(result);
});

test.each<
  [string, (last: { file: string; memory: Memory }) => Promise<Partial<PassInputs & { writer: null }>>]
>([
  ['the pass is about something else', () => Promise.resolve({ desired: stateOf() })],
  ['files say something else', () => Promise.resolve({ described: stateOf() })],
  [
    'the service answers something else',
    () => Promise.resolve({ actual: [presentTemplate(['#1 @ A 192.0.2.1'])] }),
  ],
  ['memory cannot tell', () => Promise.resolve({ revisions: null })],
  ['the pass before was allowed to write', () => Promise.resolve({ writer: null })],
  [
    'something is remembered anew',
    async ({ memory }) => {
      await memory.save(changesOf());
      return {};
    },
  ],
  [
    'another process has remembered something',
    async ({ file }) => {
      const other = await opened(file);
      await other.save(changesOf({ facts: factsOf({ lastWriteAt: 1 }) }));
      return {};
    },
  ],
  [
    'a write has left, and nobody knows what became of it',
    async ({ memory }) => {
      await memory.begin(intentOf());
      return {};
    },
  ],
])('it looks at everything where %s', async (_, change) => {
  const { file, memory, look, inputsNow } = await afterCached();
  const { writer, ...changes } = await change({ file, memory });
  expect(await look({ ...(await inputsNow()), ...changes }, writer)).toBeNull();
  // And does not come back to it.
  expect(await look(await inputsNow())).toBeNull();
});

test('a pass that had more to tell than that is not kept', async () => {
  const { inputsNow, result, memory } = await afterCached();
  const cache: ResultCache = emptyCache();
  storePass(await inputsNow(), [], [result], cache, false);
  const run = runWith({ memory, writer: memory });
  expect(await cachedPass(await inputsNow(), cache, run)).toBeNull();
});

test.each([
  ['in sync', desiredTemplate(['@ A 192.0.2.1'])],
  ['different, and written by nobody', desiredTemplate(['@ A 192.0.2.9'], { mode: 'report' })],
])('a template that is %s is looked at no more while nothing changes', async (_, desired) => {
  const scene = await openScene(presentTemplate(['#1 @ A 192.0.2.1']));
  const cache = emptyCache();
  // The first one remembers what it saw, the second finds nothing new.
  await scene.pass(desired, { cache });
  await scene.pass(desired, { cache });
  const { templates } = await scene.pass(desired, { cache });
  expect((await scene.pass(desired, { cache })).templates[0]).toBe(templates[0]);
  scene.present = presentTemplate(['#1 @ A 192.0.2.2']);
  expect((await scene.pass(desired, { cache })).templates[0]).not.toBe(templates[0]);
});
