import { statSync } from 'node:fs';
import path from 'node:path';
import { messageOf, processUser, UserError } from '../errors.ts';
import { DamagedMemoryError, moveAside } from '../state/database.ts';
import { acquireLock } from '../state/lock.ts';
import { noMemories, type Memory, type MemoryReader } from '../state/memory.ts';
import { openMemory } from '../state/sqlite.ts';

export interface MemoryPlace {
  readonly file: string;
  readonly lock: string;
  /** Tells clients apart; of the token only a digest is kept. */
  readonly scope: string;
  /** The embedded service begins with nothing to remember, and nobody need hear of it. */
  readonly isSandbox: boolean;
}

/** The memory of one client. It is opened by the first pass that needs it, and kept for those that follow. */
export interface MemoryKeeper {
  /** Planning goes on without memory where there is none, or none that can be read. */
  read<T>(place: MemoryPlace, task: (memory: MemoryReader) => Promise<T>): Promise<T>;
  /** While it holds the lock. */
  write<T>(place: MemoryPlace, waiting: Waiting, task: (memory: Memory) => Promise<T>): Promise<T>;
  /** At once, or when the pass that runs has ended. */
  close(): Promise<void>;
}

interface Waiting {
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly onWait: (holder: string) => void;
}

export const createMemoryKeeper = (warn: (message: string) => void): MemoryKeeper => {
  const kept = new KeptMemory();
  return {
    read: async (place, task) => {
      const { file, isSandbox } = place;
      if (isAbsent(file)) {
        if (!isSandbox) warn(`planned without memory, so causes are unknown: there is no ${file} yet`);
        return task(noMemories);
      }
      let memory: Memory;
      try {
        memory = await kept.open(place, openMemory);
      } catch (error) {
        warn(`planned without memory, so causes are unknown: ${messageOf(error)}`);
        return task(noMemories);
      }
      return kept.use(memory, task);
    },
    write: async (place, waiting, task) => {
      const { file, lock: lockFile, isSandbox } = place;
      const lock = await acquireLock({ file: lockFile, ...waiting }).catch((error: unknown) => {
        throw error instanceof UserError ? error : unusable(lockFile, error);
      });
      try {
        const memory = await kept.open(place, (...where) => openOrBegin(...where, warn));
        return await kept.use(memory, async () => {
          if (!isSandbox && !(await kept.isFilled(memory))) warn(startsWithout(file));
          return task(memory);
        });
      } finally {
        lock.release();
      }
    },
    close: () => kept.close(),
  };
};

class KeptMemory {
  #kept: { memory: Memory; place: MemoryPlace; print: string } | null = null;
  #filled: Memory | null = null;
  #isClosing = false;
  #uses = 0;

  /** The same as before, unless somebody has touched its file since. */
  async open(place: MemoryPlace, begin: (file: string, scope: string) => Memory): Promise<Memory> {
    const { file, scope } = place;
    const kept = this.#kept;
    if (kept?.place.file === file && kept.place.scope === scope && kept.print === printOf(file))
      return kept.memory;
    await this.#drop();
    const memory = begin(file, scope);
    this.#kept = { memory, place, print: printOf(file) };
    return memory;
  }

  /** After an error it is not kept: who opens it anew looks whether it is whole. */
  async use<T>(memory: Memory, task: (memory: Memory) => Promise<T>): Promise<T> {
    this.#uses += 1;
    let isSound = false;
    try {
      const result = await task(memory);
      isSound = true;
      return result;
    } finally {
      this.#uses -= 1;
      if (this.#uses === 0 && (this.#isClosing || !isSound)) await this.#drop();
      else if (this.#kept) this.#kept.print = printOf(this.#kept.place.file);
    }
  }

  /** Whether anything is remembered: once that is so, it stays so. */
  async isFilled(memory: Memory): Promise<boolean> {
    if (this.#filled === memory) return true;
    const isFilled = (await memory.templates()).length > 0;
    if (isFilled) this.#filled = memory;
    return isFilled;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    if (this.#uses === 0) await this.#drop();
  }

  async #drop(): Promise<void> {
    const kept = this.#kept;
    this.#kept = null;
    this.#filled = null;
    await kept?.memory.close();
  }
}

/** Of one that may not even be looked for, whoever opens it hears why. */
const isAbsent = (file: string): boolean => {
  try {
    return statSync(file, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
};

/** What the file is like; what SQLite has not moved there yet is beside it, and it notices changes of that itself. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ') : 'none';
};

/** A damaged database is kept for whoever wants to look at it; a new one fills again by reading. */
const openOrBegin = (file: string, scope: string, warn: (message: string) => void): Memory => {
  try {
    return openMemory(file, scope);
  } catch (error) {
    if (!(error instanceof DamagedMemoryError)) throw error;
    const aside = moveAside(file);
    warn(
      `${error.message}: it is ${aside} now, and a new one is begun; history, causes and writes of unknown outcome are forgotten`,
    );
    return openMemory(file, scope);
  }
};

const startsWithout = (file: string): string =>
  `starts without memory, so causes are unknown and adds wait for a second reading: nothing is remembered of this client in ${file} yet`;

const unusable = (file: string, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${path.dirname(file)}: ${messageOf(error)}; set --state-dir to a directory that ${processUser} can write`,
    { cause: error },
  );
