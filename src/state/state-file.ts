import { statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Closing, SqliteConnection } from './connection.ts';
import { filesOf, memoryError, openDatabase } from './database.ts';
import { identityOf } from './private-file.ts';
import { MemoryError } from './memory.ts';

/**
 * A state file that is open: one connection, which all clients of this process use in turns. It was checked when it was
 * opened, and is opened and checked again after a fault, or if something else than SQLite has changed it.
 */
export class StateFile {
  readonly file: string;
  readonly connection: SqliteConnection;
  onClosed: () => void = () => undefined;
  readonly #identity: string;
  /** Its content and the commits of other connections, when it was last known to be sound. */
  #print: string;
  #version = '';
  /** How often this connection has written, by what it has written. */
  readonly #writes = new Map<string, number>();
  readonly #opening = (openings += 1);
  #batch: Batch | null = null;
  /** Whose transaction is open over several turns of the event loop. */
  #saving: Promise<void> | null = null;
  #isDistrusted = false;
  #borrowers = 0;
  #keepers = 0;
  #isClosing = false;
  #sayClosed: () => void = () => undefined;
  readonly #closed = new Promise<void>((resolve) => (this.#sayClosed = resolve));

  constructor(file: string, connection: SqliteConnection) {
    this.file = file;
    this.connection = connection;
    this.#identity = identityOf(filesOf(file));
    this.#print = printOf(file);
  }

  /** For one task, until it is given back; false if it has to be opened again first. */
  borrow(): boolean {
    if (!this.#isSound()) return false;
    this.#borrowers += 1;
    return true;
  }

  async giveBack(when?: Closing): Promise<void> {
    this.#borrowers -= 1;
    await this.#closeUnused(when);
  }

  /** It stays open while somebody keeps it. */
  keep(): void {
    this.#keepers += 1;
  }

  async letGo(): Promise<void> {
    this.#keepers -= 1;
    await this.#closeUnused();
  }

  /** It is lent no more. */
  distrust(): void {
    this.#isDistrusted = true;
  }

  /** Resolves once nobody uses it any more and it is closed: a file that is open must not be moved aside. */
  async retire(): Promise<void> {
    this.distrust();
    await this.#closeUnused();
    await this.#closed;
  }

  /** Reads. After a failure the file is opened and checked again. */
  async ask<T>(task: () => T | Promise<T>): Promise<T> {
    while (this.#saving !== null) await this.#saving;
    try {
      return await task();
    } catch (error) {
      this.distrust();
      throw memoryError(this.file, error);
    }
  }

  /** All or nothing. Writes to removed files would be lost with this process. */
  change<T>(task: () => T): Promise<T> {
    this.#flush();
    return this.#transact(task);
  }

  /**
   * The same for a task in parts of `mostRows` rows at most, which may wait for more of its kind: what a pass has seen of a
   * thousand templates is synced to the disk a few times rather than a thousand times.
   */
  changeTogether(rows: number, parts: readonly (() => void)[]): Promise<void> {
    const batch = this.#batch ?? this.#newBatch();
    batch.parts.push(...parts);
    batch.rows += rows;
    if (batch.rows >= mostRows) this.#flush();
    return batch.done;
  }

  #newBatch(): Batch {
    const batch: Batch = { parts: [], rows: 0, done: Promise.resolve(), save: () => undefined };
    batch.done = new Promise((resolve, reject) => {
      batch.save = () => void this.#save(batch.parts).then(resolve, reject);
    });
    this.#batch = batch;
    void this.#flushWhenCalm(batch);
    return batch;
  }

  /** Once nothing has come for a turn of the event loop. */
  async #flushWhenCalm(batch: Batch): Promise<void> {
    let before = -1;
    while (this.#batch === batch && batch.parts.length > before) {
      before = batch.parts.length;
      await setImmediate();
      await setImmediate();
    }
    if (this.#batch === batch) this.#flush();
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = null;
    batch?.save();
  }

  #transact<T>(task: () => T): Promise<T> {
    return this.ask(() => {
      this.#checkPlace();
      const result = this.connection.transaction(task);
      this.#print = printOf(this.file);
      return result;
    });
  }

  /** Saving 30,000 records in one go would block the event loop for a third of a second. */
  #save(parts: readonly (() => void)[]): Promise<void> {
    return this.ask(() => {
      this.#checkPlace();
      const saved = this.connection.longTransaction(parts, () => (this.#print = printOf(this.file)));
      const end = (): void => void (this.#saving = null);
      this.#saving = saved.then(end, end);
      return saved;
    });
  }

  #checkPlace(): void {
    if (!this.#isInPlace()) throw removed(this.file);
    if (!this.#isUndisturbed()) this.distrust();
  }

  noteWrite(what: string): void {
    this.#writes.set(what, (this.#writes.get(what) ?? 0) + 1);
  }

  /** Texts that change whenever something may have been written, also by another process. */
  revisions(): Promise<(what: string) => string> {
    return this.ask(() => {
      const others = this.#dataVersion();
      return (what) => `${this.#opening} ${others} ${what} ${this.#writes.get(what) ?? 0}`;
    });
  }

  #isSound(): boolean {
    try {
      return !this.#isClosing && !this.#isDistrusted && this.#isInPlace() && this.#isUndisturbed();
    } catch {
      return false;
    }
  }

  /** Whether its files are still the opened ones. */
  #isInPlace(): boolean {
    return identityOf(filesOf(this.file)) === this.#identity;
  }

  /** Where another process has changed it by SQLite, SQLite tells; else it was overwritten. */
  #isUndisturbed(): boolean {
    const [print, version] = [printOf(this.file), this.#dataVersion()];
    const isUndisturbed = print === this.#print || version !== this.#version;
    this.#print = print;
    this.#version = version;
    return isUndisturbed;
  }

  /** Changes when another connection has committed. */
  #dataVersion(): string {
    const row = this.connection.get('PRAGMA data_version');
    return typeof row === 'object' && row !== null && 'data_version' in row ? String(row.data_version) : '';
  }

  async #closeUnused(when?: Closing): Promise<void> {
    const isUsed = this.#borrowers > 0 || (this.#keepers > 0 && !this.#isDistrusted);
    if (isUsed || this.#isClosing) return;
    this.#flush();
    this.#isClosing = true;
    try {
      while (this.#saving !== null) await this.#saving;
      // Whoever distrusts it opens it again, or moves it aside.
      await this.connection.close(this.#isDistrusted ? 'now' : when);
    } finally {
      this.onClosed();
      this.#sayClosed();
    }
  }
}

/** Tasks that are saved in one transaction. */
interface Batch {
  readonly parts: (() => void)[];
  rows: number;
  done: Promise<void>;
  save: () => void;
}

/** A transaction of so many takes some 20 ms. */
export const mostRows = 2_000;

export const openState = async (file: string): Promise<StateFile> =>
  new StateFile(file, await openDatabase(file));

/** The open state file, or a new opening of it. Whoever borrows it gives it back. */
export const borrowState = async (
  file: string,
  open: (file: string) => Promise<StateFile>,
): Promise<StateFile> => {
  for (;;) {
    const opening = states.get(file) ?? lend(file, open(file));
    const state = await opening;
    if (state.borrow()) return state;
    const reopen = (): Promise<StateFile> => state.retire().then(() => open(file));
    if (states.get(file) === opening) void lend(file, reopen());
  }
};

/** The state files that this process has open, or is opening. */
const states = new Map<string, Promise<StateFile>>();

const lend = (file: string, opening: Promise<StateFile>): Promise<StateFile> => {
  const forget = (): void => {
    if (states.get(file) === opening) states.delete(file);
  };
  states.set(file, opening);
  opening.then((state) => (state.onClosed = forget), forget);
  return opening;
};

/** Revisions are comparable only within one opening of the file. */
let openings = 0;

/** Identifies the content of the file. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ') : 'none';
};

const removed = (file: string): MemoryError =>
  new MemoryError(
    `${file} was removed or replaced while the program used it: later changes are lost, and nothing more is sent in this pass`,
  );
