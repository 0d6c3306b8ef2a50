import { cronTimes } from '../daemon/passes/cron-times.ts';
import type { ClientSettings } from '../settings/client.ts';

/**
 * Milliseconds from one pass of a client to its next by schedule. If all clients have the same schedule, their
 * passes are spread.
 *
 * | the schedule       | says      | the next pass                                |
 * |--------------------|-----------|----------------------------------------------|
 * | an hour or less    | how often | after that long, a tenth less or more        |
 * | longer             | when      | within six minutes of that time              |
 */
export const delayToNext = (
  { schedule, timezone }: Pick<ClientSettings, 'schedule' | 'timezone'>,
  random: () => number = Math.random,
): number => {
  const times = cronTimes(schedule, timezone);
  const interval = times.interval();
  if (interval <= hour) return interval * (0.9 + 0.2 * random());
  return times.next().getTime() - Date.now() + (random() * hour) / 10;
};

const hour = 3_600_000;
