import { describe, expect, it } from 'vitest';
import { noFault, type Fault } from './fault.ts';
import { address, openPlace, type Place } from './place.ts';
import type { SeenRequest } from './wire.ts';

const actual = [address(null, '203.0.113.1')];
const desired = [...actual, address('www', '203.0.113.2')];

/** Everything is in sync and saved; then the answer to the first add is lost, and perhaps the add. */
const openLosing = async (commit: Fault['commit']): Promise<{ place: Place; listings: () => number }> => {
  let listings = 0;
  let adds = 0;
  const faultOf = ({ operation }: SeenRequest): Fault => {
    if (operation === 'list') listings += 1;
    if (operation !== 'add') return noFault;
    adds += 1;
    return adds === 1 ? { commit, answer: 'drop' } : noFault;
  };
  const place = await openPlace(actual, { faultOf });
  await place.write(actual);
  expect(await place.apply()).toMatchObject({ code: 0, writes: 0 });
  await place.write(desired);
  listings = 0;
  return { place, listings: () => listings };
};

describe('an add whose answer was lost', { timeout: 60_000 }, () => {
  it.each([
    ['at once', 'now', 2],
    ['just before the first reading after it', 1, 2],
    ['just before the second reading after it', 2, 3],
  ] as const)('and that is stored %s is found', async (_, commit, most) => {
    const { place, listings } = await openLosing(commit);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 1, report: { status: 'in-sync' } });
    expect(listings()).toBe(most);
    expect(await place.apply()).toMatchObject({ code: 0, writes: 0, report: { status: 'in-sync' } });
  });

  it.each([['never'], [3]] as const)(
    'is given up after two readings, where it is stored: %s',
    async (commit) => {
      const { place, listings } = await openLosing(commit);
      const lost = await place.apply({ env: { DNS_SYNC_UNKNOWN_PAUSE: '1h' } });
      expect(lost).toMatchObject({ code: 1, writes: 1 });
      expect(listings()).toBe(3);
      expect(lost.report.templates[0]?.differences).toMatchObject([
        { action: 'add', outcome: 'failed', retryAt: expect.stringMatching(/^\d{4}-/) },
      ]);
      const next = await place.apply();
      expect(next).toMatchObject({ code: commit === 'never' ? 1 : 0, writes: 0 });
      const left = commit === 'never' ? [{ action: 'blocked', reason: 'pending-write' }] : [];
      expect(next.report.templates[0]?.differences).toMatchObject(left);
    },
  );

  it('is dropped if it cannot be told from another add and no file lists it', async () => {
    let listings = 0;
    let meddle = (): void => undefined;
    const faultOf = ({ operation }: SeenRequest): Fault => {
      if (operation === 'list') listings += 1;
      if (operation !== 'add') return noFault;
      meddle();
      return { commit: 'never', answer: 'drop' };
    };
    const place = await openPlace(actual, { faultOf });
    await place.write(actual);
    await place.apply();
    await place.write(desired);
    // Somebody adds another address at the same time.
    let others: Promise<unknown> = Promise.resolve();
    meddle = () => {
      const other = { dns_template_id: place.templateId, ...address('other', '203.0.113.9', 300) };
      others = place.service.change('add-record', other);
    };
    expect((await place.apply()).report.templates[0]?.differences[0]).toMatchObject({ outcome: 'unknown' });
    await others;

    await place.write(actual);
    expect(await place.apply()).toMatchObject({ writes: 0 });
    listings = 0;
    expect(await place.apply()).toMatchObject({ writes: 0 });
    expect(listings).toBe(1);

    await place.write(desired);
    const again = await place.apply({ clockAhead: 7 * 3_600_000 });
    expect(again.writes).toBe(0);
    expect(again.report.templates[0]?.differences[0]).toMatchObject({
      action: 'blocked',
      reason: 'pending-write',
      message: expect.stringContaining('apply --retry'),
    });
  });

  it('leaves its record set alone after the second one, for any content of the file', async () => {
    const losing = ({ operation }: SeenRequest): Fault =>
      operation === 'add' ? { commit: 'never', answer: 'drop' } : noFault;
    const place = await openPlace(actual, { faultOf: losing });
    await place.write(actual);
    await place.apply();
    const version = (content: string): Promise<void> => place.write([...actual, address('www', content)]);
    await version('203.0.113.2');
    expect(await place.apply()).toMatchObject({ code: 1, writes: 1 });
    await version('203.0.113.3');
    const second = await place.apply();
    expect(second).toMatchObject({ code: 1, writes: 1 });
    // No time is shown at which nothing would happen.
    expect(second.report.templates[0]?.differences[0]).not.toHaveProperty('retryAt');
    await version('203.0.113.4');
    const third = await place.apply();
    expect(third).toMatchObject({ writes: 0 });
    const blocked = { reason: 'pending-write', message: expect.stringContaining('apply --retry') };
    expect(third.report.templates[0]?.differences).toMatchObject([{ action: 'blocked', ...blocked }]);
    expect(third.report.templates[0]?.differences[0]).not.toHaveProperty('retryAt');
    expect(await place.apply({ args: ['--retry', 'web'] })).toMatchObject({ writes: 1 });
  });

  it('makes another value of its record set wait as long as itself', async () => {
    const { place } = await openLosing('never');
    await place.apply({ env: { DNS_SYNC_UNKNOWN_PAUSE: '1h' } });
    await place.write([...actual, address('www', '203.0.113.3')]);
    const next = await place.apply();
    expect(next).toMatchObject({ writes: 0 });
    expect(next.report.templates[0]?.differences).toMatchObject([
      { action: 'blocked', reason: 'pending-write', retryAt: expect.stringMatching(/^\d{4}-/) },
    ]);
  });
});
