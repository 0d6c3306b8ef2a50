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

/** For the person who runs a command; those of one of several clients are gathered until its end. */
export const printedWarnings = (log: Logger, io: Pick<Io, 'stderr'>): WarningOutlet => {
  const gathered = new Warnings();
  const print = saidOn(io);
  return {
    warn: (message, client, clients = 1, level = 'warn') => {
      if (client === undefined) print(message);
      else if (!log.isLevelEnabled(level)) return;
      else if (clients === 1) print(message);
      else gathered.add(client, message);
    },
    close: (clients) => gathered.lines(clients).forEach(print),
  };
};

/** Messages besides the result of a command over several clients: one that concerns many clients is said once. */
export class Warnings {
  readonly #clients = new Map<string, Set<string>>();

  add(client: string, message: string): void {
    const clients = this.#clients.get(message) ?? new Set();
    this.#clients.set(message, clients.add(client));
  }

  /** `all`: the number of clients of the command. */
  lines(all: number): string[] {
    return [...this.#clients].map(([message, names]) => {
      if (names.size === all) return `all ${all} clients: ${message}`;
      const [shown, more] = [[...names].slice(0, maxNamed), names.size - maxNamed];
      return `${shown.join(', ')}${more > 0 ? ` and ${more} more clients` : ''}: ${message}`;
    });
  }
}

const maxNamed = 5;
