import { readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { connect } from '../../src/state/connection.ts';
import { fileStore } from '../../src/state/store.ts';
import { testClock } from '../clock.ts';
import { identityContract, processesOn } from './identity-contract.ts';
import { changesOf } from './samples.ts';

identityContract(() => Promise.resolve(processesOn(() => fileStore(systemClock))));

it('forgets after a day that another client has compared a template, and not before', async () => {
  const clock = testClock();
  const { write } = processesOn(() => fileStore(clock));
  const other = { name: 'b', token: 'b' };
  await write({}, (memory) => memory.compare([17]));
  // Whoever goes on comparing it keeps it.
  clock.forward(3_600_000);
  await write({}, (memory) => memory.compare([17]));
  clock.forward(86_400_000 - 1);
  expect(await write(other, (memory) => memory.compare([17]))).toEqual(new Map([[17, 'default']]));
  clock.forward(2);
  expect(await write(other, (memory) => memory.compare([17]))).toEqual(new Map());
  expect(await write({}, (memory) => memory.compare([17]))).toEqual(new Map([[17, 'b']]));
});

it('stores no part of a token', async () => {
  const { stateDir, write } = processesOn(() => fileStore(systemClock));
  await write({ token: 'a-very-secret-token' }, (memory) => memory.save(changesOf()));
  const connection = connect(path.join(stateDir, 'memory.db'), { timeout: 0 });
  onTestFinished(() => connection.close());
  const rows = connection.all('SELECT * FROM clients');
  expect(JSON.stringify([rows, readdirSync(stateDir)])).not.toContain('secret');
});
