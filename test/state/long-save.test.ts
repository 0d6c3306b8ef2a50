import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { changesOf, clientsOf, newEntry, newFile, opened, rememberedRecord, rowOf } from './samples.ts';

/** As many as take a hundred milliseconds. */
const records = Array.from({ length: 8_000 }, (_, index) => rememberedRecord(`A host${index}`));
const changes = changesOf({ records });
const { templateId } = rowOf();

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
  const { memories, close } = await clientsOf(file, 'client', 'client');
  const [memory, other] = memories;
  const saved = memory!.save(changes);
  await setImmediate();
  const [read, begun] = await Promise.all([other!.template(templateId), other!.begin(newEntry()), saved]);
  expect(read?.records).toHaveLength(records.length);
  expect(await memory!.journal()).toEqual([begun]);
  await close();
});

it('where it fails, nothing of it stays, and what others begin meanwhile does', async () => {
  const file = newFile();
  const { memories, close } = await clientsOf(file, 'client', 'client');
  const [memory, other] = memories;
  const broken = [...records, { ...rememberedRecord('A broken'), key: undefined as never }];
  const saved = memory!.save({ ...changes, records: broken });
  await setImmediate();
  const begun = other!.begin(newEntry());
  await expect(saved).rejects.toThrow('NOT NULL');
  await begun;
  await close();
  const again = await opened(file);
  expect(await again.template(templateId)).toBeNull();
  expect(await again.journal()).toHaveLength(1);
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
