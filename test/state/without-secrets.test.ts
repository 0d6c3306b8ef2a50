import { expect, test } from 'vitest';
import { redactor } from '../../src/secrets.ts';
import { withoutSecrets } from '../../src/state/without-secrets.ts';
import {
  changesOf,
  newEntry,
  newFile,
  opened,
  recordData,
  rememberedRecord,
  finish,
  historyOf,
} from './samples.ts';

const token = 'client-token';
const shown = recordData({ content: `v=${token}` });
const hidden = recordData({ content: 'v=[secret]' });

test('a record is saved without the secrets that the service put into it', async () => {
  const memory = withoutSecrets(await opened(newFile()), redactor([token]));
  const rewritten = { sent: recordData(), stored: shown };
  const parked = rememberedRecord('#5', { wanted: shown, seen: shown, displaced: null });
  await memory.save(
    changesOf({ records: [parked, rememberedRecord('A www  1', { seen: shown, rewritten })] }),
  );
  expect((await memory.template(17))?.records).toEqual([
    { ...parked, wanted: hidden, seen: hidden },
    rememberedRecord('A www  1', { seen: hidden, rewritten: { sent: recordData(), stored: hidden } }),
  ]);
});

test('a write is saved with what was sent, and without the secret that it replaces', async () => {
  const saved = await opened(newFile());
  const memory = withoutSecrets(saved, redactor([token]));
  const intent = await memory.begin(newEntry({ action: 'update', before: shown, recordId: 7 }));
  expect(intent.before).toEqual(shown);
  expect(await memory.journal()).toEqual([{ ...intent, before: hidden, makesWayFor: null }]);
  await finish(memory, intent, { outcome: 'applied', recordId: 7, error: null }, changesOf());
  expect(await historyOf(saved)).toMatchObject([{ before: hidden, after: intent.after }]);
});

test('values of files are saved unchanged, so that an add is recognised', async () => {
  const memory = withoutSecrets(await opened(newFile()), redactor([token]));
  const record = rememberedRecord(`A www  v=${token}`, { wanted: shown, seen: shown });
  await memory.save(changesOf({ records: [record] }));
  const intent = await memory.begin(newEntry({ after: shown }));
  expect((await memory.template(17))?.records).toEqual([record]);
  expect(await memory.journal()).toEqual([intent]);
});

test('a record that contained a secret cannot be restored from the saved state', async () => {
  const memory = withoutSecrets(await opened(newFile()), redactor([token]));
  const displaced = { key: 'CNAME www', own: null, was: shown, cause: 'edited' } as const;
  await memory.save(changesOf({ records: [rememberedRecord('#5', { displaced })] }));
  expect((await memory.template(17))?.records).toMatchObject([{ key: '#5', displaced: null }]);
  const park = newEntry({ action: 'park', recordId: 5, before: shown, makesWayFor: 'CNAME www' });
  await memory.begin(park);
  expect(await memory.journal()).toMatchObject([{ before: hidden, makesWayFor: null }]);
});
