import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PassLoop, type PassLoopState, type PassOutcome } from '../../../src/daemon/passes/loop.ts';
import type { Trigger } from '../../../src/result.ts';
import { listeningLogger } from '../listening-logger.ts';

/** A loop whose passes end when the test says so. */
const controlled = (random = 1) => {
  const passes: {
    run: string;
    trigger: Trigger;
    signal: AbortSignal;
    end: (outcome: PassOutcome | Error) => Promise<void>;
  }[] = [];
  const { log, lines } = listeningLogger();
  const states: PassLoopState[] = [];
  const loop: PassLoop = new PassLoop({
    log,
    onState: () => void states.push(loop.state),
    dueAt: () => null,
    random: () => random,
    pass: (cause, signal) =>
      new Promise((resolve, reject) => {
        passes.push({
          ...cause,
          signal,
          end: async (outcome) => {
            if (outcome instanceof Error) reject(outcome);
            else resolve(outcome);
            await vi.advanceTimersByTimeAsync(0);
          },
        });
      }),
  });
  const started = (): Trigger[] => passes.map(({ trigger }) => trigger);
  const last = () => passes.at(-1) ?? expect.fail('no pass started');
  return { loop, lines, states, started, last };
};

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a loop', () => {
  it('runs a pass at once, and the next one at once after it', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    expect(started()).toEqual(['startup']);
    await last().end('ok');
    loop.trigger('schedule');
    expect(started()).toEqual(['startup', 'schedule']);
  });

  it('gives a pass that waits the id that was told to whoever asked for it first', async () => {
    const { loop, last } = controlled();
    loop.trigger('startup');
    loop.trigger('file-change', 'of a change');
    expect(loop.trigger('request', 'told')).toBe('told');
    expect(loop.trigger('request', 'another')).toBe('told');
    await last().end('ok');
    expect(last()).toMatchObject({ run: 'told', trigger: 'request' });
  });

  it('reports each of its states', async () => {
    const { loop, states, last } = controlled();
    const seen = () => states.splice(0).at(-1);
    const rest = { running: null, waiting: null, failures: 0, backoffUntil: null };
    loop.trigger('startup');
    expect(seen()).toEqual({ ...rest, running: 'startup' });
    loop.trigger('schedule');
    expect(seen()).toEqual({ ...rest, running: 'startup', waiting: 'schedule' });
    await last().end('ok');
    expect(seen()).toEqual({ ...rest, running: 'schedule' });
    await last().end('failed');
    expect(seen()).toMatchObject({ running: null, failures: 1, backoffUntil: new Date(Date.now() + 2_000) });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(seen()).toMatchObject({ running: 'schedule', failures: 1, backoffUntil: null });
    await last().end('ok');
    expect(seen()).toEqual(rest);
  });

  it('runs one pass at a time, and merges requests during a pass into one, with the strongest trigger', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    for (const trigger of ['schedule', 'file-change', 'schedule', 'file-change'] as const)
      loop.trigger(trigger);
    expect(loop.state).toMatchObject({ running: 'startup', waiting: 'file-change' });
    expect(started()).toEqual(['startup']);
    await last().end('ok');
    expect(started()).toEqual(['startup', 'file-change']);
    loop.trigger('request');
    loop.trigger('file-change');
    await last().end('ok');
    expect(started()).toEqual(['startup', 'file-change', 'request']);
    await last().end('ok');
    expect(loop.state).toEqual({ running: null, waiting: null, failures: 0, backoffUntil: null });
    expect(started()).toHaveLength(3);
  });

  it('does not wait for another loop', () => {
    const [one, other] = [controlled(), controlled()];
    one.loop.trigger('startup');
    other.loop.trigger('startup');
    expect([one.started(), other.started()]).toEqual([['startup'], ['startup']]);
  });
});

describe('after a failed pass', () => {
  it('another one follows, after a backoff that grows to five minutes', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('schedule');
    const pauses = [2, 4, 8, 16, 32, 64, 128, 256, 300, 300];
    for (const [index, seconds] of pauses.entries()) {
      await last().end('failed');
      expect(loop.state.failures).toBe(index + 1);
      expect(loop.state.backoffUntil).toEqual(new Date(Date.now() + seconds * 1_000));
      await vi.advanceTimersByTimeAsync(seconds * 1_000 - 1);
      expect(started()).toHaveLength(index + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(started()).toHaveLength(index + 2);
    }
    await last().end('ok');
    expect(loop.state).toEqual({ running: null, waiting: null, failures: 0, backoffUntil: null });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the backoff is what the service asks for, if that is longer', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('schedule');
    await last().end({ failedFor: 60_000, isRateLimited: false });
    expect(loop.state.backoffUntil).toEqual(new Date(Date.now() + 60_000));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(started()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toHaveLength(2);
    await last().end({ failedFor: 1, isRateLimited: false });
    expect(loop.state.backoffUntil).toEqual(new Date(Date.now() + 4_000));
  });

  it('after too many requests, saved files wait too, and only a person does not', async () => {
    for (const isRateLimited of [true, false]) {
      const { loop, started, last } = controlled();
      loop.trigger('schedule');
      // Also those that are saved during the pass.
      loop.trigger('file-change');
      await last().end({ failedFor: 60_000, isRateLimited });
      expect(started()).toHaveLength(isRateLimited ? 1 : 2);
      if (!isRateLimited) continue;
      for (const trigger of ['file-change', 'schedule'] as const) loop.trigger(trigger);
      // What is set meanwhile is the time of day.
      vi.setSystemTime(Date.now() + 86_400_000);
      await vi.advanceTimersByTimeAsync(59_999);
      expect(started()).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      expect(started()).toEqual(['schedule', 'file-change']);
      await last().end({ failedFor: 60_000, isRateLimited });
      loop.trigger('request');
      expect(started()).toHaveLength(3);
    }
  });

  it('a service that asks for a wait of years is read again after a day', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('schedule');
    await last().end({ failedFor: 8_000 * 365 * 86_400_000, isRateLimited: true });
    await vi.advanceTimersByTimeAsync(24 * 3_600_000 - 1);
    expect(started()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toHaveLength(2);
  });

  it('the backoff is shortened by up to a half', async () => {
    const { loop, started, last } = controlled(0);
    loop.trigger('startup');
    await last().end('failed');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(started()).toEqual(['startup', 'startup']);
  });

  it('the schedule waits for the end of the backoff', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    loop.trigger('schedule');
    await last().end('failed');
    loop.trigger('schedule');
    expect(started()).toEqual(['startup']);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(started()).toEqual(['startup', 'schedule']);
    await last().end('ok');
    expect(started()).toHaveLength(2);
  });

  it.each(['file-change', 'request'] as const)(
    'a %s is tried at once, and ends the pause',
    async (trigger) => {
      const { loop, started, last } = controlled();
      loop.trigger('startup');
      await last().end('failed');
      loop.trigger(trigger);
      expect(started()).toEqual(['startup', trigger]);
      await last().end('ok');
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect(started()).toHaveLength(2);
    },
  );

  it('a request that came during it is tried at once', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    loop.trigger('request');
    await last().end('failed');
    expect(started()).toEqual(['startup', 'request']);
    await last().end('failed');
    expect(loop.state.failures).toBe(2);
    expect(started()).toHaveLength(2);
  });

  it('an error that the pass threw is logged and counts as a failure', async () => {
    const { loop, lines, started, last } = controlled();
    loop.trigger('startup');
    await last().end(new TypeError('a defect'));
    expect(lines).toEqual([expect.objectContaining({ trigger: 'startup', err: expect.anything() })]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(started()).toHaveLength(2);
  });
});

describe('after a pass that another process kept from running', () => {
  it('the same is tried again soon, however often, and counts as no failure', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('schedule');
    for (const times of [1, 2, 3, 4]) {
      await last().end('busy');
      expect(loop.state).toMatchObject({ running: null, waiting: 'schedule', failures: 0 });
      await vi.advanceTimersByTimeAsync(2_000);
      expect(started()).toHaveLength(times + 1);
    }
  });

  it('a request keeps the id that it was answered with, until it is made', async () => {
    const { loop, last } = controlled();
    const asked = loop.trigger('request');
    expect(last().run).toBe(asked);
    await last().end('busy');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(last().run).toBe(asked);
    await last().end('failed');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(last().run).not.toBe(asked);
  });

  it('a request is tried at once, and earlier failures still count', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    await last().end('failed');
    loop.trigger('request');
    await last().end('busy');
    expect(loop.state).toMatchObject({ failures: 1, backoffUntil: new Date(Date.now() + 2_000) });
    loop.trigger('request');
    expect(started()).toEqual(['startup', 'request', 'request']);
  });
});

describe('closing', () => {
  it('aborts the running pass, waits for it and starts no other', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    loop.trigger('request');
    let closed = false;
    const closing = loop.close().then(() => (closed = true));
    expect(last().signal.aborted).toBe(true);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(closed).toBe(false);
    await last().end('failed');
    await closing;
    loop.trigger('request');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(started()).toEqual(['startup']);
    await loop.close();
  });

  it('ends a backoff', async () => {
    const { loop, started, last } = controlled();
    loop.trigger('startup');
    await last().end('failed');
    await loop.close();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(started()).toEqual(['startup']);
  });
});
