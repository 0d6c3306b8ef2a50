import type { Logger } from 'pino';
import type { DaemonClient } from './context.ts';
import { startSchedule } from './schedule.ts';
import { watchTemplates } from './watch.ts';

export interface TriggersOptions {
  readonly client: Pick<DaemonClient, 'scan' | 'settings'>;
  readonly onChange: () => void;
  readonly onSchedule: () => void;
  readonly onAnswersSchedule: () => void;
  readonly log: Logger;
}

/** The watcher and the schedules of one client, which trigger passes and rounds over name servers. */
export interface Triggers {
  /** The next time of the schedule of passes. */
  readonly next: () => Date;
  readonly close: () => Promise<void>;
}

/** Resolves when the watcher knows the current files. */
export const startTriggers = async ({
  client: { scan, settings },
  onChange,
  onSchedule,
  onAnswersSchedule,
  log,
}: TriggersOptions): Promise<Triggers> => {
  const { templates: paths, schedule: expression, answersSchedule, timezone } = settings;
  const watcher = await watchTemplates({ paths, scan, onChange, log });
  const schedule = startSchedule({ expression, timezone, onTime: onSchedule });
  const rounds = startSchedule({ expression: answersSchedule, timezone, onTime: onAnswersSchedule });
  return {
    next: schedule.next,
    close: () => {
      schedule.close();
      rounds.close();
      return watcher.close();
    },
  };
};
