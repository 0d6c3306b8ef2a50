import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openMemory, type FileMemory } from '../../src/state/sqlite.ts';
import { borrowState, openState } from '../../src/state/state-file.ts';
import { changesOf, intentOf, newFile, rememberedRecord, rowOf } from './samples.ts';

/** As many as take hundreds of milliseconds. */
const records = Array.from({ length: 20_000 }, (_, index) => rememberedRecord(`A host${index}`));
const changes = changesOf({ records });
const { templateId } = rowOf();

/** As clients of one process open it, which share a connection. */
const opened = (file: string): Promise<FileMemory> =>
  openMemory(file, 'client', (one) => borrowState(one, openState));

it('a save of many records lets other tasks run before it ends', async () => {
  const memory = await opened(newFile());
  const state = { isSaved: false };
  const saved = memory.save(changes).then(() => (state.isSaved = true));
  let turns = 0;
  for (; !state.isSaved; turns += 1) await setImmediate();
  await saved;
  await memory.close();
  expect(turns).toBeGreaterThan(3);
});

it('nothing reads a part of it, and nothing is written among it', async () => {
  const file = newFile();
  const [memory, other] = [await opened(file), await opened(file)];
  const saved = memory.save(changes);
  await setImmediate();
  const [read, begun] = await Promise.all([other.template(templateId), other.begin(intentOf()), saved]);
  expect(read?.records).toHaveLength(records.length);
  expect(await memory.openIntents()).toEqual([begun]);
  await Promise.all([memory.close(), other.close()]);
});

it('where it fails, nothing of it stays, and what others begin meanwhile does', async () => {
  const file = newFile();
  const [memory, other] = [await opened(file), await opened(file)];
  const stored = { sent: 1n } as never;
  const broken = [...records, rememberedRecord('A broken', { stored })];
  const saved = memory.save({ ...changes, records: broken });
  await setImmediate();
  const begun = other.begin(intentOf());
  await expect(saved).rejects.toThrow(/BigInt/);
  await begun;
  await Promise.all([memory.close(), other.close()]);
  const again = await opened(file);
  expect(await again.template(templateId)).toBeNull();
  expect(await again.openIntents()).toHaveLength(1);
  await again.close();
});

it('closing the file waits for its end', async () => {
  const file = newFile();
  const memory = await opened(file);
  const saved = memory.save(changes);
  await setImmediate();
  await Promise.all([memory.close(), saved]);
  const again = await opened(file);
  expect((await again.template(templateId))?.records).toHaveLength(records.length);
  await again.close();
});
