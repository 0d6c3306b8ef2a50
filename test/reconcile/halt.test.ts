import { describe, expect, test } from 'vitest';
import { desiredTemplate, actualTemplate } from '../plan/records.ts';
import { failing, openScene, type Mishap, type Scene } from './pass.ts';

interface Reader {
  readonly desired: readonly string[];
  readonly mishaps?: Readonly<Record<string, Mishap>>;
  /** The call that reads. */
  readonly reads: string;
  readonly prepare?: (scene: Scene) => Promise<unknown>;
}

const inSync = 'www A 192.0.2.1';
const edited = 'www A 192.0.2.9';
const added = 'api A 192.0.2.2';

const readers: Readonly<Record<string, Reader>> = {
  'begin with': { desired: [inSync], reads: 'list 1' },
  'confirm what is to be added': { desired: [inSync, added], reads: 'list 2' },
  'see whether a refused record is there': {
    desired: [edited],
    mishaps: { 'update 1': failing('refused', 422) },
    reads: 'list 2',
  },
  'see what an answer did not show': {
    desired: [edited],
    mishaps: { 'update 1': (template) => ({ ...template, records: [] }) },
    reads: 'list 2',
  },
  'settle an add of this pass': {
    desired: [inSync, added],
    mishaps: { 'add 1': failing('unknown', null) },
    reads: 'list 3',
  },
  'look at a subdomain': { desired: [inSync], reads: 'records of shop.example.net 1' },
};

const errors: Readonly<
  Record<string, { mishap: Mishap; isDenied?: boolean; wait?: number; isOfAll?: boolean }>
> = {
  'the tokens open nothing': {
    mishap: failing('unauthorized', 401),
    isDenied: true,
    isOfAll: true,
  },
  'the service asks for time': { mishap: failing('rate-limited', 429, 90_000), wait: 90_000, isOfAll: true },
  'the service is asked too often': { mishap: failing('rate-limited', 429), wait: 60_000, isOfAll: true },
  'the service is down for a known time': { mishap: failing('unavailable', 503, 120_000), wait: 120_000 },
  'the service is down': { mishap: failing('unavailable', 502) },
  'the answer is broken': { mishap: failing('bad-answer', 200) },
  'the service cannot be reached': { mishap: failing('not-sent', null) },
};

const cases = Object.entries(readers).flatMap(([purpose, reader]) =>
  Object.entries(errors).map(([what, error]) => ({ purpose, reader, what, error })),
);

describe('a reading that fails', () => {
  test.each(cases)(
    'ends the calls of the client with its cause and time: to $purpose, when $what',
    async ({ reader: { desired, mishaps = {}, reads, prepare }, error }) => {
      const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1']));
      await prepare?.(scene);
      for (const [call, mishap] of Object.entries(mishaps)) scene.mishaps.set(call, mishap);
      scene.mishaps.set(reads, error.mishap);
      const subdomains = ['shop.example.net', 'late.example.net'];
      const result = await scene.pass(desiredTemplate(desired, { subdomains }));

      expect(scene.calls).toContain(reads);
      // Only one subdomain may be unreadable.
      const halts = error.isOfAll === true || !reads.startsWith('records');
      const { holdReason, isDenied, retryAfter, templates } = result;
      expect({ holdReason, isDenied, retryAfter }).toEqual({
        holdReason: halts ? expect.stringContaining('it says') : null,
        isDenied: halts && error.isDenied === true,
        retryAfter: halts && error.wait ? error.wait : null,
      });
      const isClosed = halts && (error.isDenied === true || error.wait !== undefined);
      if (isClosed) expect(scene.calls.at(-1)).toBe(reads);
      if (isClosed) expect(templates[0]?.status).toBe('failed');
      // A subdomain reports its own error, and a pass without open steps is not cut short.
      const isCutShort = isClosed && reads !== 'list 1' && desired.some((record) => record !== inSync);
      if (isCutShort) expect(templates[0]?.message).toContain(holdReason);
    },
  );

  test('is not replaced by a later one that says less', async () => {
    const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1']));
    scene.mishaps.set('update 1', failing('refused', 422));
    scene.mishaps.set('list 2', failing('unavailable', 502));
    scene.mishaps.set('records of shop.example.net 1', failing('unauthorized', 401));
    const result = await scene.pass(desiredTemplate([edited], { subdomains: ['shop.example.net'] }));
    expect(result).toMatchObject({ isDenied: true, holdReason: expect.stringContaining('unauthorized') });
  });
});

test('what the service asks to wait is a duration, whatever the clock is set to during the pass', async () => {
  for (const set of [-3_600_000, 3_600_000]) {
    const scene = await openScene(actualTemplate(['#1 www A 192.0.2.1']));
    scene.mishaps.set('update 1', failing('rate-limited', 429, 90_000));
    const onChange = (): void => {
      // Ten seconds go by.
      scene.now += set + 10_000;
      scene.jumped += set;
    };
    const result = await scene.pass(desiredTemplate([edited]), { onChange });
    expect(result).toMatchObject({ retryAfter: 80_000, isRateLimited: true });
  }
});
