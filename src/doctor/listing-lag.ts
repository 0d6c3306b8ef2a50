import { HostingError } from '../hosting/errors.ts';
import type { ProbeAnswer } from '../hosting/probe.ts';
import type { HostingService } from '../hosting/service.ts';
import { sleep } from '../lib/sleep.ts';
import { durationText } from '../model/duration.ts';
import type { ActualRecord } from '../model/record.ts';
import { findingsAbout, type Found } from './finding.ts';

interface LagProbe {
  readonly service: Pick<HostingService, 'listDnsTemplates'>;
  /** Milliseconds. */
  readonly settle: number;
  /** Updates the record's TTL, in seconds, with its other values as they are. */
  readonly setTtl: (ttl: number) => Promise<ProbeAnswer>;
}

/** How long until a listing shows a write: of a TTL that is one second longer, until it is set back. */
export const examineLag = async (
  { id, ttl }: ActualRecord,
  { service, settle, setTtl }: LagProbe,
): Promise<Found> => {
  const { all, ok, note, problem } = findingsAbout('a changed ttl');
  if (ttl === null) {
    note('the record has none, so how long a listing takes to show a change cannot be seen');
    return { findings: all };
  }
  const changed = await setTtl(ttl + 1);
  let lag: number | null = null;
  try {
    if (changed.isSuccess) lag = await timeUntilShown(id, ttl + 1, service);
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    note(error.message);
  }
  const restored = await setTtl(ttl);
  if (!restored.isSuccess) problem(`it may be ${ttl + 1} now, and ${ttl} was refused: ${restored.words}`);
  if (!changed.isSuccess) note(`${ttl + 1} was refused: ${changed.words}`);
  else if (lag === null) note(`no listing showed ${ttl + 1} within ${durationText(mostWait)}: keep settle`);
  else if (lag <= settle)
    ok(
      lag === 0
        ? 'the first listing showed it'
        : `a listing showed it after ${lag} ms: settle is long enough`,
    );
  else {
    const needed = durationText(Math.ceil(lag / 500) * 1_000);
    problem(`a listing showed it after ${lag} ms: set settle: ${needed}, twice as long`);
    return { findings: all, set: { settle: needed } };
  }
  return { findings: all };
};

const timeUntilShown = async (
  id: number,
  ttl: number,
  service: LagProbe['service'],
): Promise<number | null> => {
  const begun = performance.now();
  let isLate = false;
  for (let pause = 50; performance.now() - begun < mostWait; pause = Math.min(2 * pause, 2_000)) {
    const listing = await service.listDnsTemplates();
    const isShown = listing.some(({ records }) => records.some((one) => one.id === id && one.ttl === ttl));
    if (isShown) return isLate ? Math.ceil(performance.now() - begun) : 0;
    isLate = true;
    await sleep(pause);
  }
  return null;
};

/** Milliseconds. */
const mostWait = 60_000;
