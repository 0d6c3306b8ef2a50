import path from 'node:path';
import type { Logger } from 'pino';
import type { DaemonClient } from '../context.ts';
import type { Duties } from '../fleet.ts';
import { startSchedule } from './schedule.ts';
import { watchFiles } from '../../source/watch.ts';

export interface TriggersOptions {
  readonly client: Pick<DaemonClient, 'look' | 'settings'>;
  /** What is left to others starts nothing here. */
  readonly duties: Duties;
  readonly onChange: () => void;
  readonly onSchedule: () => void;
  readonly onAnswersSchedule: () => void;
  readonly log: Logger;
}

/** The watcher and the schedules of one client, which trigger passes and rounds over name servers. */
export interface Triggers {
  /** The next time of the schedule of passes; null where others keep it. */
  readonly next: () => Date | null;
  readonly close: () => Promise<void>;
}

export const startTriggers = ({
  client: { look, settings },
  duties,
  onChange,
  onSchedule,
  onAnswersSchedule,
  log,
}: TriggersOptions): Triggers => {
  const { templates, cwd, schedule: expression, answersSchedule, timezone } = settings;
  const paths = templates.map((one) => path.resolve(cwd, one));
  const watcher = duties.files ? watchFiles({ paths, look, onChange, log }) : null;
  const schedule = duties.schedule ? startSchedule({ expression, timezone, onTime: onSchedule }) : null;
  const rounds = duties.answers
    ? startSchedule({ expression: answersSchedule, timezone, onTime: onAnswersSchedule })
    : null;
  return {
    next: () => schedule?.next() ?? null,
    close: async () => {
      schedule?.close();
      rounds?.close();
      await watcher?.close();
    },
  };
};
