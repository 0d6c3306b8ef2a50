import { expect, it, onTestFinished } from 'vitest';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { StoreHandle } from '../../src/state/store-handle.ts';
import { storeLocation } from '../../src/state/store-location.ts';
import type { Memory } from '../../src/state/memory.ts';
import { changesOf, rowOf, intentOf, newFolder, recordData, rememberedRecord } from './samples.ts';

export const template = (id: number, recordIds: readonly number[]): ActualTemplate => ({
  id,
  name: `template-${id}`,
  publiclyAvailable: false,
  subdomains: 0,
  records: recordIds.map((recordId) => ({ ...recordData(), id: recordId, ttl: 300 })),
});

export const baseUrl = 'https://panel.example.net/api/v1';

type OpenHandle = (warn: (message: string) => void) => StoreHandle;

/** Passes with different tokens over one store, and what they had to say. */
export const stateOf = (openHandle: OpenHandle) => {
  const stateDir = newFolder();
  const said: string[] = [];
  const write = async <T>(
    token: string,
    shown: readonly ActualTemplate[],
    task: (memory: Memory, say: unknown, listing: unknown) => Promise<T>,
    { names = ['default'], url = baseUrl }: { names?: readonly string[]; url?: string } = {},
  ): Promise<T> => {
    const handle = openHandle((message) => said.push(message));
    onTestFinished(() => handle.close());
    const location = storeLocation({ stateDir, baseUrl: url, name: names.at(-1) ?? '' }, token, false, names);
    const waiting = {
      timeout: 0,
      signal: new AbortController().signal,
      onWait: () => undefined,
      unknownPause: 0,
    };
    const result = await handle.write(location, waiting, () => Promise.resolve(shown), task);
    await handle.close();
    return result;
  };
  return { stateDir, said, write };
};

export const remember = (templateId: number, recordIds: readonly number[]) => (memory: Memory) =>
  memory.save(
    changesOf({
      row: rowOf({ templateId }),
      records: recordIds.map((recordId) => rememberedRecord(`A www  ${recordId}`, { recordId })),
    }),
  );

const known = (memory: Memory) => memory.templates().then((all) => all.map(({ templateId }) => templateId));

/** How every store tells whose a token is. */
export const identityContract = (newHandle: () => Promise<OpenHandle>): void => {
  const newState = async () => stateOf(await newHandle());

  it('assigns an unknown token to the client whose templates and most records it shows', async () => {
    const { said, write } = await newState();
    await write('old', [template(17, [])], remember(17, [1, 2, 3]));
    const intent = await write('old', [], (memory) => memory.begin(intentOf()));
    const shown = [template(17, [2, 3, 4]), template(18, [])];
    expect(await write('new', shown, known)).toEqual([17]);
    expect(said.at(-1)).toContain('it takes over the state of that client');
    for (const token of ['old', 'new'])
      expect(await write(token, [], (memory) => memory.openIntents())).toEqual([intent]);
  });

  it.each([
    ['records', { 17: [1, 2] }, template(17, [2, 3])],
    ['templates', { 17: [], 18: [] }, template(18, [])],
  ])('gives a client that shows half of the known %s its own state', async (_, state, shown) => {
    const { write } = await newState();
    for (const [id, records] of Object.entries(state))
      await write('old', [template(17, [])], remember(Number(id), records));
    expect(await write('new', [shown], known)).toEqual([]);
  });

  it('gives a client with other templates or another base URL its own state', async () => {
    const { said, write } = await newState();
    await write('one', [template(17, [])], remember(17, [1, 2, 3]));
    expect(await write('two', [template(18, [4])], known)).toEqual([]);
    const url = 'https://other.example.net/api/v1';
    expect(await write('three', [template(17, [1, 2, 3])], known, { url })).toEqual([]);
    expect(said.filter((message) => message.includes('taken over'))).toEqual([]);
  });

  it('treats clients that are configured side by side as different', async () => {
    const { write } = await newState();
    await write('one', [template(17, [])], remember(17, [1]));
    expect(await write('two', [template(17, [1])], known, { names: ['default', 'second'] })).toEqual([]);
  });

  it('takes over no state if two clients fit, says so, and never writes at the same time as them', async () => {
    const { said, write } = await newState();
    await write('one', [template(17, [])], remember(17, [1]));
    await write('two', [template(17, [2])], remember(17, [2]), { names: ['default', 'second'] });
    const shown = [template(17, [1, 2])];
    await write('one', shown, async () => {
      await expect(write('three', shown, known)).rejects.toThrow('another pass for this client is running');
    });
    expect(await write('three', shown, known)).toEqual([]);
    expect(said.find((message) => message.includes('it takes over no state'))).toContain('2 known clients');
  });

  it('counts an add as open by its template, for any token', async () => {
    const { write } = await newState();
    await write('one', [template(17, [])], remember(17, [1]));
    const intent = await write('one', [], (memory) => memory.begin(intentOf()));
    await write('one', [], (memory) => memory.begin(intentOf({ templateId: 99 })));
    // Its records are all other ones.
    const open = (memory: Memory) => memory.openIntents();
    expect(await write('two', [template(17, [7])], open)).toEqual([intent]);
    const done = { outcome: 'applied', recordId: 1, error: null } as const;
    await write('two', [], (memory) => memory.finish(intent, done, changesOf({ row: rowOf(), records: [] })));
    for (const token of ['one', 'two'])
      expect((await write(token, [], open)).map(({ templateId }) => templateId)).toEqual(
        token === 'one' ? [99] : [],
      );
  });

  it('hands on the listing that identified a client only if all locks were held when it was read', async () => {
    const { write } = await newState();
    const listing = (_: Memory, __: unknown, shown: unknown) => Promise.resolve(shown !== null);
    expect(await write('first', [template(17, [])], listing)).toBe(true);
    await write('first', [], remember(17, [1]));
    expect(await write('rotated', [template(17, [1])], listing)).toBe(false);
    expect(await write('rotated', [], listing)).toBe(false);
  });

  it('lets two unknown tokens of one client share one state', async () => {
    const { write } = await newState();
    const shown = [template(17, [1])];
    await write('one', shown, async () => {
      await expect(write('two', shown, known)).rejects.toThrow('another pass for this client is running');
    });
  });

  it.each([
    'HTTPS://Panel.Example.NET/api/v1',
    'https://panel.example.net:443/api/v1/',
    'https://panel.example.net./api/v1//',
  ])('knows its base URL as %s', async (url) => {
    const { write } = await newState();
    await write('token', [], remember(17, [1]));
    expect(await write('token', [], known, { url })).toEqual([17]);
  });
};
