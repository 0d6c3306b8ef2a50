import type { Logger } from 'pino';
import type { Io } from '../io.ts';
import { printLine } from './progress.ts';

/** Tells people what is not part of a result. `client`: null if it is about the whole program. */
export type Warn = (message: string, client: string | null, level?: 'info' | 'warn' | 'error') => void;

/** For the person who runs the program, whatever becomes of its log. */
export const saidOn =
  (io: Pick<Io, 'stderr'>) =>
  (message: string): void =>
    printLine(io, `dns-template-sync: ${message}`);

export const loggedWarnings =
  (log: Logger): Warn =>
  (notice, client, level = 'warn') =>
    log[level]({ event: 'notice', ...(client === null ? {} : { client }), notice }, 'notice');

/** For the person who runs a command. What is true of several clients is said of the first of them. */
export const printedWarnings = (log: Logger, io: Pick<Io, 'stderr'>): Warn => {
  const said = new Set<string>();
  return (message, client, level = 'warn') => {
    if ((client !== null && !log.isLevelEnabled(level)) || said.has(message)) return;
    said.add(message);
    saidOn(io)(client === null || client === 'default' ? message : `${client}: ${message}`);
  };
};
