import type { PassReport } from '../daemon/fleet.ts';
import type { Trigger } from '../result.ts';

/** What distinguishes a pass from an earlier one that found the same: run, trigger, time, start and milliseconds. */
export type RepeatedPass = readonly [
  run: string,
  trigger: Trigger,
  at: string,
  startedAt: number,
  durationMs: number,
];

/** Null for a pass that has read nothing, so that it shows what an earlier one has found. */
export const repeatedPassOf = ({ event, entry, latest }: PassReport): RepeatedPass | null => {
  const { run, at } = event;
  const { trigger, startedAt, durationMs } = entry;
  const isOwn =
    latest?.run === run &&
    latest.trigger === trigger &&
    latest.startedAt === at &&
    latest.durationMs === durationMs;
  return isOwn ? [run, trigger, at, startedAt, durationMs] : null;
};

/** The report of another pass that found the same. */
export const repeatedReport = (
  report: PassReport,
  [run, trigger, at, startedAt, durationMs]: RepeatedPass,
): PassReport => ({
  ...report,
  event: { ...report.event, run, at },
  entry: { ...report.entry, trigger, startedAt, durationMs },
  latest: report.latest && { ...report.latest, run, trigger, startedAt: at, durationMs },
});
