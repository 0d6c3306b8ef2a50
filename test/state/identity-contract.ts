import { expect, it, onTestFinished } from 'vitest';
import { noMemories, type Memory } from '../../src/state/memory.ts';
import { storeHandle, type StateStore } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import { changesOf, newEntry, newFolder, rowOf } from './samples.ts';

/** A process with a store, under names and tokens as they may be set. */
export interface Configured {
  readonly name?: string;
  readonly token?: string;
  /** All that are set; default: only this one. */
  readonly names?: readonly string[];
  readonly url?: string;
  readonly stateDir?: string;
}

const baseUrl = 'https://panel.example.net/api/v1';

/** Passes of processes of different settings over one store, and what they had to say. */
export const processesOn = (newStore: () => StateStore) => {
  const stateDir = newFolder();
  const said: string[] = [];
  const openHandle = () => {
    const store = newStore();
    onTestFinished(() => store.close());
    return storeHandle(store, (message) => said.push(message));
  };
  const locationOf = ({ name = 'default', token = 'token', names = [name], url = baseUrl }: Configured) =>
    storeLocation({ stateDir, baseUrl: url, name }, token, false, names);
  return {
    stateDir,
    said,
    write: <T>(settings: Configured, task: (memory: Memory) => Promise<T>): Promise<T> => {
      const { signal } = new AbortController();
      const use = { timeout: 0, signal, onWait: () => undefined, lostPause: 0 };
      return openHandle().write(locationOf(settings), use, ({ memory }) => task(memory));
    },
    read: (settings: Configured) =>
      openHandle().read(locationOf(settings), (memory) =>
        memory === noMemories ? Promise.resolve(null) : known(memory),
      ),
  };
};

const known = (memory: Pick<Memory, 'templates'>): Promise<number[]> =>
  memory.templates().then((all) => all.map(({ templateId }) => templateId));

/** It has read a template and sent a write to it. */
const remember = (templateId: number) => async (memory: Memory) => {
  await memory.save(changesOf({ row: rowOf({ templateId }) }));
  return memory.begin(newEntry({ templateId }));
};

const journal = (memory: Memory) => memory.journal();

/** Whose the state is, in every store. */
export const identityContract = (newProcesses: () => Promise<ReturnType<typeof processesOn>>): void => {
  it.each<[string, Configured, Configured, 'has' | 'starts without']>([
    ['after its token was rotated', { token: 'old' }, { token: 'new' }, 'has'],
    ['as default, after its token became that of another account', {}, { token: 'of another' }, 'has'],
    ['in a second installation of the same name', {}, { token: 'of another installation' }, 'has'],
    ['of another name', { token: 'one' }, { name: 'b', token: 'two' }, 'starts without'],
    ['at another base URL', {}, { url: 'https://other.example.net/api/v1' }, 'starts without'],
    ['that was renamed', {}, { name: 'acme' }, 'has'],
    ['that was renamed and rotated', {}, { name: 'acme', token: 'new' }, 'starts without'],
    ['beside the one that has its token', {}, { name: 'acme', names: ['acme', 'default'] }, 'starts without'],
    ['at the same base URL, in capitals', {}, { url: 'HTTPS://Panel.Example.NET/api/v1' }, 'has'],
    [
      'at the same base URL, with port and slash',
      {},
      { url: 'https://panel.example.net:443/api/v1/' },
      'has',
    ],
    ['at the same base URL, with final dots', {}, { url: 'https://panel.example.net./api/v1//' }, 'has'],
  ])('a client %s: %o, then %o, %s the state', async (_, before, after, how) => {
    const { write, read } = await newProcesses();
    const entry = await write(before, remember(17));
    const isKept = how === 'has';
    expect(await read(after)).toEqual(isKept ? [17] : []);
    expect(await write(after, known)).toEqual(isKept ? [17] : []);
    expect(await write(after, journal)).toEqual(isKept ? [entry] : []);
  });

  it('a client that was renamed takes its state over once, and says so', async () => {
    const { said, write } = await newProcesses();
    await write({}, remember(17));
    said.length = 0;
    for (let turn = 1; turn <= 2; turn += 1) await write({ name: 'acme' }, known);
    expect(said).toEqual([
      'acme takes over the saved state of client default, which used this token and is not set any more',
    ]);
    expect(await write({ name: 'default', token: 'other' }, known)).toEqual([]);
  });

  it('a client takes over nothing where it is not clear whose token it was', async () => {
    const { write } = await newProcesses();
    await write({ name: 'one' }, remember(17));
    await write({ name: 'two', names: ['one', 'two'] }, remember(18));
    expect(await write({ name: 'three' }, known)).toEqual([]);
  });

  it.each<[string, Configured, Configured]>([
    ['two tokens of one client, as in a rolling restart', { token: 'old' }, { token: 'new' }],
    ['two names with one token', {}, { name: 'acme' }],
  ])('only one writes at a time: %s', async (_, one, other) => {
    const { write } = await newProcesses();
    const refused = 'another pass for this client is running';
    await write(one, () => expect(write(other, known)).rejects.toThrow(refused));
    await write(other, () => expect(write(one, known)).rejects.toThrow(refused));
  });

  it('two clients with a token each do not wait for each other', async () => {
    const { write } = await newProcesses();
    const other: Configured = { name: 'b', token: 'b' };
    await write({}, () => write(other, remember(18)));
    expect(await write(other, known)).toEqual([18]);
  });

  it('a template that another client compares is its own for a day', async () => {
    const { write } = await newProcesses();
    const other: Configured = { name: 'b', token: 'b' };
    const compare = (memory: Memory) => memory.compare([17, 18]);
    const look = (memory: Memory) => memory.comparedByOthers([17, 18]);
    expect(await write({}, (memory) => memory.compare([17]))).toEqual(new Map());
    for (const task of [look, compare, look, compare])
      expect(await write(other, task)).toEqual(new Map([[17, 'default']]));
    expect(await write({}, compare)).toEqual(new Map([[18, 'b']]));
    // Another service has other templates of these numbers.
    expect(await write({ url: 'https://other.example.net/api/v1' }, compare)).toEqual(new Map());
    // What it was called does not matter.
    expect(await write({ name: 'acme', names: ['acme', 'b'] }, compare)).toEqual(new Map([[18, 'b']]));
  });
};
