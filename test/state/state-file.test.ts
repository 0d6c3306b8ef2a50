import { readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeAtOnce } from '../../src/state/connection.ts';
import { borrowOrSalvage } from '../../src/state/salvage.ts';
import { memoryIn, openMemory, type FileMemory } from '../../src/state/sqlite.ts';
import { borrowState, openState, type StateFile } from '../../src/state/state-file.ts';
import { startChild } from './child.ts';
import { changesOf, intentOf, newFile, opened, rememberedRecord, rowOf } from './samples.ts';

// As in a process of its own.
closeAtOnce();

/** A state that somebody keeps, as a client does from one pass to the next. */
const kept = async (file: string): Promise<StateFile> => {
  const state = await borrowState(file, openState);
  state.keep();
  onTestFinished(() => state.letGo());
  await (await memoryIn(state, 'kept')).save(changesOf());
  await state.giveBack();
  return state;
};

const again = async (file: string): Promise<StateFile> => {
  const state = await borrowOrSalvage(file, () => undefined);
  onTestFinished(() => state.giveBack());
  return state;
};

/** Several clients of one file, until the test ends. */
const borrowedBy = async (file: string, ...digests: readonly string[]): Promise<FileMemory[]> => {
  const borrow = (path: string): Promise<StateFile> => borrowState(path, openState);
  const memories = await Promise.all(digests.map((digest) => openMemory(file, digest, borrow)));
  onTestFinished(async () => {
    for (const memory of memories) await memory.close();
  });
  return memories;
};

const saveElsewhere = async (file: string): Promise<void> => {
  const child = startChild(
    `const { openMemory } = await load('state/sqlite.mjs');
     const memory = await openMemory(process.argv[1], 'kept');
     for (let templateId = 1; templateId < 200; templateId += 1)
       await memory.save({ ...${JSON.stringify(changesOf())}, row: { templateId } });
     await memory.close();
     console.log('saved');`,
    file,
  );
  expect(await child.line()).toBe('saved');
};

describe('the state file of several clients', () => {
  it.each<[string, boolean, (file: string, state: StateFile) => unknown]>([
    ['nothing has happened', true, () => undefined],
    [
      'another client has written much',
      true,
      async (file) => {
        const memory = await openMemory(file, 'other', (one) => borrowState(one, openState));
        for (let templateId = 1; templateId < 200; templateId += 1)
          await memory.save(changesOf({ row: rowOf({ templateId }) }));
        await memory.close();
      },
    ],
    ['another process has written', true, saveElsewhere],
    ['it was overwritten', false, (file) => writeFileSync(file, readFileSync(file))],
    [
      'another one is in its place',
      false,
      (file) => {
        writeFileSync(`${file}.new`, readFileSync(file));
        renameSync(`${file}.new`, file);
      },
    ],
    ['it was removed', false, (file) => rmSync(file)],
    ['reading it has failed', false, (_, state) => state.ask(() => JSON.parse('{')).catch(() => undefined)],
  ])('where %s, it stays open: %s', async (_, isSame, happen) => {
    const file = newFile();
    const state = await kept(file);
    await happen(file, state);
    expect((await again(file)) === state).toBe(isSame);
  });

  it('tells what one of them and other processes have written', async () => {
    const file = newFile();
    await kept(file);
    const [one, other] = await borrowedBy(file, 'one', 'other');
    const revision = async () => (await one!.revisions!()).of(17);
    const before = await revision();
    await other!.save(changesOf());
    expect(await revision()).toBe(before);
    await one!.save(changesOf());
    const after = await revision();
    expect(after).not.toBe(before);
    await saveElsewhere(file);
    expect(await revision()).not.toBe(after);
  });

  it('saves together what comes at one moment, or tells all who wait that nothing is saved', async () => {
    const [one, other] = await borrowedBy(newFile(), 'one', 'other');
    const unusable = rememberedRecord('A www  203.0.113.10', { adds: 1n as never });
    const saving = [one!.save(changesOf()), other!.save(changesOf({ records: [unusable] }))];
    expect(await Promise.allSettled(saving)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    expect(await one!.templates()).toEqual([]);
  });

  it('saves before a write begins what came before it', async () => {
    const file = newFile();
    const [memory] = await borrowedBy(file, 'one');
    const saved = memory!.save(changesOf());
    await memory!.begin(intentOf());
    expect(await (await opened(file, 'one')).templates()).toHaveLength(1);
    await saved;
  });

  it('is opened again only when it is closed, and closed only when nobody is busy with it', async () => {
    const file = newFile();
    const state = await kept(file);
    expect(state.borrow()).toBe(true);
    state.distrust();
    const steps: string[] = [];
    const opening = borrowState(file, (one) => {
      steps.push('opens again');
      return openState(one);
    });
    const next = again(file);
    await setImmediate();
    await state.ask(() => state.connection.get('SELECT 1'));
    steps.push('ends');
    await state.giveBack();
    expect(await opening).toBe(await next);
    await (await opening).giveBack();
    expect(steps).toEqual(['ends', 'opens again']);
  });

  it.runIf(process.platform === 'linux')('is open once, and not at all when all are done', async () => {
    const file = newFile();
    const openOnes = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((descriptor) => {
        try {
          return readlinkSync(`/proc/self/fd/${descriptor}`) === file ? [descriptor] : [];
        } catch {
          return [];
        }
      });
    const memories = await Promise.all(
      ['one', 'two', 'three'].map((digest) =>
        openMemory(file, digest, (path) => borrowState(path, openState)),
      ),
    );
    await Promise.all(memories.map((memory) => memory.save(changesOf())));
    expect(openOnes()).toHaveLength(1);
    await Promise.all(memories.map((memory) => memory.close()));
    expect(openOnes()).toEqual([]);
  });
});
