import { expect, test } from 'vitest';
import { keepAll, noRests, stillAtRest, type Ground, type RestContext } from '../../src/apply/rest.ts';
import { unseenResult } from '../../src/apply/result.ts';
import type { DesiredState } from '../../src/model/template.ts';
import type { Memory } from '../../src/state/memory.ts';
import { desiredTemplate, presentTemplate } from '../plan/records.ts';
import { changesOf, factsOf, intentOf, newFile, opened } from '../state/samples.ts';
import { clock } from './work.ts';

const stateOf = (): DesiredState => ({
  templates: [desiredTemplate(['@ A 192.0.2.1'])],
  unusable: [],
  problems: [],
  files: 1,
});

/** A pass in which the one template was at rest, and what another pass with the very same would begin with. */
const afterRest = async () => {
  const file = newFile();
  const memory = await opened(file);
  await memory.save(changesOf());
  const described = stateOf();
  const actual = [presentTemplate(['#1 @ A 192.0.2.1'])];
  const groundNow = async (): Promise<Ground> => ({
    desired: described,
    described,
    actual,
    revisions: (await memory.revisions?.()) ?? null,
  });
  const context: RestContext = { rests: noRests(), memory, writer: memory, clock };
  const facts = { client: 'acme', template: 'web', id: 17, file: 'web.yaml', revision: null };
  const result = { ...unseenResult(facts, 'held', ''), status: 'in-sync', message: null } as const;
  const bound = { desired: described.templates[0]!, present: actual[0]!, notes: [] };
  const rest = { bound, revision: '', facts: factsOf(), isDryRun: false, result };
  keepAll(await groundNow(), [rest], [result], context);
  return { file, memory, context, groundNow, result };
};

test('a pass that begins with the very same ends with the very same', async () => {
  const { context, groundNow, result } = await afterRest();
  for (const turn of [1, 2])
    expect((await stillAtRest(await groundNow(), context))?.results[0], `${turn}`).toBe(result);
});

test.each<[string, (last: { file: string; memory: Memory }) => Promise<Partial<Ground & RestContext>>]>([
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
  const { file, memory, context, groundNow } = await afterRest();
  const changes = await change({ file, memory });
  const [ground, now] = [
    { ...(await groundNow()), ...changes },
    { ...context, ...changes },
  ];
  expect(await stillAtRest(ground, now)).toBeNull();
  // And does not come back to it.
  expect(await stillAtRest(await groundNow(), context)).toBeNull();
});

test('a pass that had more to tell than that is not kept', async () => {
  const { context, groundNow, result } = await afterRest();
  const other: RestContext = { ...context, rests: noRests() };
  keepAll(await groundNow(), [], [result], other);
  expect(await stillAtRest(await groundNow(), other)).toBeNull();
});
