import { createHash } from 'node:crypto';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { acquireLock } from '../../src/state/lock.ts';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace, type Place } from './place.ts';
import type { SeenRequest } from './wire.ts';

const actual = [address(null, '203.0.113.1'), address('api', '203.0.113.1')];
const desired = [...actual, address('www', '203.0.113.2')];
const rotated = { DNS_SYNC_CLIENT_TOKEN: 'another-token-of-client' };

const isAdd = ({ operation }: SeenRequest): boolean => operation === 'add';

/** Who sends an add waits for its answer, and holds the lock. */
const withoutAnswer = (request: SeenRequest): Fault =>
  isAdd(request) ? { commit: 'never', answer: 'hang' } : noFault;

const untilAdd = () => {
  let resolve: () => void;
  const arrived = new Promise<void>((done) => (resolve = done));
  return {
    arrived,
    onStage: (stage: string, request: SeenRequest): void => {
      if (stage === 'stored' && isAdd(request)) resolve();
    },
  };
};

describe('a rotated client token', { timeout: 60_000 }, () => {
  it('never writes at the same time as the previous token', async () => {
    const { arrived, onStage } = untilAdd();
    const place = await openPlace(actual, { onStage, faultOf: withoutAnswer });
    await place.write(actual);
    await place.apply();
    await place.write(desired);
    const program = place.start(['apply', '--yes'], { process: {} });
    await arrived;
    const { code, writes, stdout } = await place.apply({ env: rotated, args: ['--lock-timeout', '200ms'] });
    expect({ code, writes }).toEqual({ code: 1, writes: 0 });
    expect(stdout).toContain('another pass for this client is running');
    program.signal('SIGKILL');
    await program.ended;
  });
});

describe('version 0.1 on the same state directory', { timeout: 60_000 }, () => {
  /** The lock by which version 0.1 keeps others from a token. */
  const lockIn = ({ stateDir, service }: Place) => {
    const owner = createHash('sha256').update(`${service.url} token-of-client`).digest('hex').slice(0, 32);
    const { signal } = new AbortController();
    const file = path.join(stateDir, `lock-${owner}.db`);
    return acquireLock({ file, timeout: 0, signal, onWait: () => undefined });
  };

  it('keeps this one from writing while it writes', async () => {
    const place = await openPlace(actual);
    await place.write(desired);
    const lock = await lockIn(place);
    onTestFinished(() => lock.release());
    const { code, writes, stdout } = await place.apply({ args: ['--lock-timeout', '50ms'] });
    expect({ code, writes }).toEqual({ code: 1, writes: 0 });
    expect(stdout).toContain('another pass for this client is running');
    const daemon = place.start(['run', '--listen', 'off']);
    expect(await daemon.event('pass.waiting')).toMatchObject({
      level: 'warn',
      reason: expect.stringContaining(`process ${process.pid}`),
    });
    daemon.signal('SIGTERM');
    await daemon.ended;
  });

  it('is kept from writing while this one writes', async () => {
    const { arrived, onStage } = untilAdd();
    const place = await openPlace(actual, { onStage, faultOf: withoutAnswer });
    await place.write(desired);
    const program = place.start(['apply', '--yes'], { process: {} });
    await arrived;
    await expect(lockIn(place)).rejects.toThrow('another pass for this client is running');
    program.signal('SIGKILL');
    await program.ended;
  });
});
