import type { Logger } from 'pino';
import type { Io } from '../io.ts';
import { printLine } from './progress.ts';

/** Where messages for people go that are not part of a result. */
export interface WarningOutlet {
  /** `client`: the client that it is about; absent: the whole program. `clients`: how many there are. */
  warn(message: string, client?: string, clients?: number, level?: 'info' | 'warn' | 'error'): void;
  close(clients: number): void;
}

/** For the person who runs the program, whatever becomes of its log. */
export const saidOn =
  (io: Pick<Io, 'stderr'>) =>
  (message: string): void =>
    printLine(io, `dns-template-sync: ${message}`);

export const loggedWarnings = (log: Logger): WarningOutlet => ({
  warn: (notice, client, _, level = 'warn') =>
    log[level]({ event: 'notice', ...(client === undefined ? {} : { client }), notice }, 'notice'),
  close: () => undefined,
});

/** For the person who runs a command. Those of one of several clients are gathered until its end, so that each is said once. */
export const printedWarnings = (log: Logger, io: Pick<Io, 'stderr'>): WarningOutlet => {
  const clientsOf = new Map<string, Set<string>>();
  const print = saidOn(io);
  return {
    warn: (message, client, clients = 1, level = 'warn') => {
      if (client !== undefined && !log.isLevelEnabled(level)) return;
      if (client === undefined || clients === 1) print(message);
      else clientsOf.set(message, new Set([...(clientsOf.get(message) ?? []), client]));
    },
    close: (clients) => {
      for (const [message, names] of clientsOf) {
        const more = names.size > maxNamed ? ` and ${names.size - maxNamed} more clients` : '';
        const some = `${[...names].slice(0, maxNamed).join(', ')}${more}`;
        print(`${names.size === clients ? `all ${clients} clients` : some}: ${message}`);
      }
    },
  };
};

const maxNamed = 5;
