import path from 'node:path';
import type { Logger } from 'pino';
import type { DaemonClient } from '../context.ts';
import { startSchedule } from './schedule.ts';
import { watchFiles } from '../../source/watch.ts';

export interface TriggersOptions {
  readonly client: Pick<DaemonClient, 'look' | 'settings'>;
  /** By which its scheduled passes are spread over some minutes, where there may be thousands of clients; null: they are not. */
  readonly spread: string | null;
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

export const startTriggers = ({
  client: { look, settings },
  spread,
  onChange,
  onSchedule,
  onAnswersSchedule,
  log,
}: TriggersOptions): Triggers => {
  const { templates, cwd, schedule: expression, answersSchedule, timezone } = settings;
  const paths = templates.map((one) => path.resolve(cwd, one));
  const watcher = watchFiles({ paths, look, onChange, log });
  const schedule = startSchedule({ expression, timezone, spread, onTime: onSchedule });
  const rounds = startSchedule({ expression: answersSchedule, timezone, spread, onTime: onAnswersSchedule });
  return {
    next: () => schedule.next(),
    close: async () => {
      schedule.close();
      rounds.close();
      await watcher.close();
    },
  };
};
