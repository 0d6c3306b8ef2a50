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

/**
 * The words are triggers; how the running pass ends, as `failed` or `asks:60s`, which is for how long the service wants
 * to be left alone, and `limited:60s`, since there were too many requests; `after:2s`, when the next pass starts, and not
 * a moment before; `clock:60s`, by which the clock is set; `quiet`: nothing starts any more; and what has started so far.
 */
const play = async (script: string): Promise<void> => {
  const { loop, started, last } = controlled();
  for (const [word] of script.matchAll(/\[.*?\]|\S+/g)) {
    const [kind = '', amount = ''] = word.split(':');
    const milliseconds = Number.parseFloat(amount) * 1_000;
    const before = started().length;
    if (kind.startsWith('[')) expect(`[${started().join(' ')}]`).toBe(word);
    else if (kind === 'ok' || kind === 'failed' || kind === 'busy') await last().end(kind);
    else if (kind === 'asks' || kind === 'limited')
      await last().end({ failedFor: milliseconds, isRateLimited: kind === 'limited' });
    else if (kind === 'close') await loop.close();
    else if (kind === 'clock') vi.setSystemTime(Date.now() + milliseconds);
    else if (kind === 'after') {
      await vi.advanceTimersByTimeAsync(milliseconds - 1);
      expect(`${script} @ ${started().length}`).toBe(`${script} @ ${before}`);
      await vi.advanceTimersByTimeAsync(1);
      expect(started()).toHaveLength(before + 1);
    } else if (kind === 'quiet') {
      await vi.advanceTimersByTimeAsync(3_600_000);
      expect([started().length, vi.getTimerCount()]).toEqual([before, 0]);
    } else loop.trigger(triggers.find((one) => one === kind) ?? expect.fail(kind));
  }
};

const triggers = ['startup', 'schedule', 'file-change', 'request'] as const;

describe('a loop', () => {
  it.each([
    ['runs a pass at once, and the next one', 'startup [startup] ok schedule [startup schedule] ok quiet'],
    [
      'merges requests during a pass into one, with the strongest trigger',
      `startup schedule file-change schedule file-change [startup] ok [startup file-change]
       request file-change ok [startup file-change request] ok quiet`,
    ],
    [
      'backs off after failed passes, up to five minutes',
      `schedule failed after:2s failed after:4s failed after:8s failed after:16s failed after:32s failed after:64s
       failed after:128s failed after:256s failed after:300s failed after:300s ok quiet`,
    ],
    ['begins anew with that after a good one', 'schedule failed after:2s ok schedule failed after:2s'],
    ['leaves the service alone for as long as it asks', 'schedule asks:60s after:60s asks:0.001s after:4s'],
    ['but not for years', 'schedule limited:252288000000s after:86400s'],
    ['goes on with files that were saved meanwhile', 'schedule file-change asks:60s [schedule file-change]'],
    [
      'but lets them wait too after too many requests, whatever the clock says; a person does not wait',
      `schedule file-change limited:60s file-change schedule clock:86400s after:60s [schedule file-change]
       limited:60s request [schedule file-change request]`,
    ],
    [
      'lets the schedule wait for the end of the backoff',
      'startup schedule failed schedule [startup] after:2s [startup schedule] ok quiet',
    ],
    ['tries a saved file at once', 'startup failed file-change [startup file-change] ok quiet'],
    ['tries a request at once', 'startup failed request [startup request] ok quiet'],
    ['also one that came during the pass', 'startup request failed [startup request] failed after:4s'],
    [
      'tries again soon what another process kept from running, however often, which is no failure',
      'schedule busy after:2s busy after:2s busy after:2s busy after:2s ok schedule failed after:2s',
    ],
    [
      'remembers earlier failures meanwhile, and tries a request at once',
      'startup failed request busy [startup request] request [startup request request] failed after:4s',
    ],
    ['starts nothing once it is closed', 'startup failed close quiet request quiet [startup]'],
  ])('%s', async (_, script) => {
    await play(script);
  });

  it('gives a pass that waits the id that was told to whoever asked for it first', () => {
    const { loop } = controlled();
    loop.trigger('startup');
    loop.trigger('file-change', 'of a change');
    expect([loop.trigger('request', 'told'), loop.trigger('request', 'another')]).toEqual(['told', 'told']);
  });

  it('keeps the id of a request until its pass is made', async () => {
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

  it('reports each of its states', async () => {
    const { loop, states, last } = controlled();
    const seen = () => states.splice(0).at(-1);
    const rest = { running: null, waiting: null, failures: 0, backoffUntil: null };
    loop.trigger('startup');
    loop.trigger('schedule');
    expect(seen()).toEqual({ ...rest, running: 'startup', waiting: 'schedule' });
    await last().end('ok');
    expect(seen()).toEqual({ ...rest, running: 'schedule' });
    await last().end('failed');
    expect(seen()).toMatchObject({ running: null, failures: 1, backoffUntil: new Date(Date.now() + 2_000) });
  });

  it('shortens the backoff by up to a half, also after an error that a pass threw, which is logged', async () => {
    const { loop, lines, started, last } = controlled(0);
    loop.trigger('startup');
    await last().end(new TypeError('a defect'));
    expect(lines).toMatchObject([{ trigger: 'startup', err: expect.anything() }]);
    await vi.advanceTimersByTimeAsync(999);
    expect(started()).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(started()).toHaveLength(2);
  });

  it('aborts the running pass when it is closed, waits for it and starts no other', async () => {
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
});
