import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startService } from '../service.ts';
import { newTables } from './databases.ts';
import { mutatedProgram } from './mutated-program.ts';
import { newWorkers, type Worker } from './workers.ts';

const desired = Array.from({ length: 8 }, (_, at) => `added-${at}`);

/** Stops the first worker when its first intent is committed and it has not heard of that. */
const stopInBegin = async (url: string, worker: Worker): Promise<void> => {
  const gate = new Client(url);
  await gate.connect();
  onTestFinished(() => gate.end());
  await gate.query('SELECT pg_advisory_lock(1)');
  await gate.query(`CREATE FUNCTION wait_for_gate() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$`);
  await gate.query(
    'CREATE TRIGGER wait_for_gate AFTER INSERT ON dns_sync.journal FOR EACH ROW EXECUTE FUNCTION wait_for_gate()',
  );
  const waits = "SELECT FROM pg_stat_activity WHERE wait_event = 'advisory' AND datname = current_database()";
  let said: string | null = null;
  void worker.ended.then((text) => (said = text));
  while ((await gate.query(waits)).rowCount === 0) {
    if (said !== null) throw new Error(`it ended before its first write: ${String(said)}`);
    await setTimeout(5);
  }
  worker.signal('SIGSTOP');
  await gate.query('SELECT pg_advisory_unlock(1)');
};

/** A worker that is stopped between its intent and its request; it wakes when its successors are done. */
const wakeLate = async (folder: string) => {
  const service = await startService();
  const { url } = await newTables();
  const { want, begin, applyAll, counts } = newWorkers(
    service,
    url,
    { DNS_SYNC_UNKNOWN_PAUSE: '100ms' },
    folder,
  );
  want(...desired);
  const late = begin();
  await stopInBegin(url, late);
  await applyAll();
  expect(await counts()).toEqual(desired.map(() => 1));
  late.signal('SIGCONT');
  return { said: await late.ended, counts: await counts() };
};

/**
 * One that wakes would often see first that the answer to its intent took too long, and would not come as far as its
 * socket: it waits longer here.
 */
const patient = ['beginPatience=2e3', 'beginPatience=1e5'] as const;

describe('a worker that is stopped before its first write, and continues after its successor made it', () => {
  it('sends nothing more', async () => {
    const { said, counts } = await wakeLate(mutatedProgram(patient));
    expect(counts).toEqual(desired.map(() => 1));
    expect(said).toMatch(refusal);
  });

  it('would make it twice without the deadline at the socket, and the test finds it', async () => {
    const { counts } = await wakeLate(
      mutatedProgram(patient, ['.throwIfAborted(),asked.beforeSend?.()', '.throwIfAborted(),void 0']),
    );
    expect(counts).toContain(2);
  });
});

/** Of the write whose intent was begun in time. */
const refusal =
  /add dns template record: (the lease of this process was not renewed|another process has taken over)/;
