import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import type { SqliteConnection } from './connection.ts';
import { replaceDatabase, finishReplacing, type Replaced } from './damage.ts';
import { DamagedMemoryError, filesOf, memoryError, openDatabase } from './database.ts';
import { acquireLock } from './lock.ts';
import { MemoryError, type Instant } from './memory.ts';
import { identityOf } from './private-file.ts';
import type { Loss, Origin } from './schema.ts';

/**
 * The state file of a directory: one connection for all clients of this process, from its first use to the end. Any error
 * closes it, and so does another file in its place; then it is opened and checked again.
 */
export class StateFile {
  readonly file: string;
  readonly #clock: Pick<Clock, 'now' | 'uptime'>;
  #open: OpenFile | null = null;
  #opening: Promise<OpenFile> | null = null;
  /** What it was when this process used it last. */
  #mark: Mark | null = null;
  /** Changes when what this process has saved may be lost. */
  #life = 0;
  #lost: Loss | null = null;
  #warn: (message: string) => void = () => undefined;
  /** How often this connection has written, by what it has written. */
  readonly #writes = new Map<string, number>();
  #openings = 0;
  #batch: Batch | null = null;
  /** Whose transaction is open over several turns of the event loop. */
  #saving: Promise<void> | null = null;

  constructor(file: string, clock: Pick<Clock, 'now' | 'uptime'>) {
    this.file = file;
    this.#clock = clock;
  }

  get now(): Instant {
    return { now: this.#clock.now(), uptime: this.#clock.uptime() };
  }

  /** What was lost last; null if nothing was. */
  get lost(): Loss | null {
    return this.#lost;
  }

  /** Opens it for a task, whose later statements throw if the file is lost meanwhile. Throws `DamagedMemoryError`. */
  async begin(warn: (message: string) => void): Promise<number> {
    this.#warn = warn;
    await this.#opened();
    const life = this.#life;
    this.#mark = await this.ask(life, markOf);
    return life;
  }

  /** The same; a file that cannot be used makes way for a new one, with what to say of it. */
  async beginWriting(
    warn: (message: string) => void,
    onReplaced: (replaced: Replaced) => void,
  ): Promise<number> {
    try {
      return await this.begin(warn);
    } catch (error) {
      if (!(error instanceof DamagedMemoryError)) throw error;
    }
    // Two processes that move it aside at once would move the new one.
    const signal = new AbortController().signal;
    const lock = path.join(path.dirname(this.file), 'replacing.db');
    const replacing = await acquireLock({ file: lock, timeout: 30_000, signal, onWait: () => undefined });
    try {
      return await this.begin(warn);
    } catch (error) {
      if (!(error instanceof DamagedMemoryError)) throw error;
      onReplaced(await replaceDatabase(this.file, error, { now: this.now, warn }));
      this.#mark = null;
      this.#life += 1;
      return await this.begin(warn);
    } finally {
      await replacing.release();
    }
  }

  /** Reads. `life`: what the task began with. */
  async ask<T>(life: number, task: (connection: SqliteConnection) => T | Promise<T>): Promise<T> {
    for (;;) {
      const open = await this.#opened();
      if (life !== this.#life) throw removed(this.file);
      if (this.#saving !== null) await this.#saving;
      else if (open === this.#open) return this.#try(open, task);
    }
  }

  async #try<T>(
    { connection }: OpenFile,
    task: (connection: SqliteConnection) => T | Promise<T>,
  ): Promise<T> {
    try {
      return await task(connection);
    } catch (error) {
      await this.close('now');
      throw memoryError(this.file, error);
    }
  }

  /** All or nothing. */
  change<T>(life: number, task: (connection: SqliteConnection) => T): Promise<T> {
    this.#flush();
    return this.ask(life, (connection) => {
      const result = connection.transaction(() => task(connection));
      this.#settled();
      return result;
    });
  }

  /**
   * The same for a task in parts of `mostRows` rows at most, which may wait for more of its kind: what a pass has seen of a
   * thousand templates is synced to the disk a few times rather than a thousand times.
   */
  changeTogether(life: number, rows: number, parts: readonly Part[]): Promise<void> {
    if (this.#batch?.life !== life) this.#flush();
    const batch = this.#batch ?? this.#newBatch(life);
    batch.parts.push(...parts);
    batch.rows += rows;
    if (batch.rows >= mostRows) this.#flush();
    return batch.done;
  }

  #newBatch(life: number): Batch {
    const batch: Batch = { life, parts: [], rows: 0, done: Promise.resolve(), save: () => undefined };
    batch.done = new Promise((resolve, reject) => {
      batch.save = () => void this.#save(batch).then(resolve, reject);
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

  /** Saving 30,000 records in one go would block the event loop for a third of a second. */
  #save({ life, parts }: Batch): Promise<void> {
    return this.ask(life, (connection) => {
      const bound = parts.map((part) => () => part(connection));
      const saved = connection.longTransaction(bound, () => this.#settled());
      const end = (): void => void (this.#saving = null);
      this.#saving = saved.then(end, end);
      return saved;
    });
  }

  noteWrite(what: string): void {
    this.#writes.set(what, (this.#writes.get(what) ?? 0) + 1);
  }

  /** That this entry of the journal must be in any file that is used from now on. */
  noteEntry(id: number): void {
    if (this.#mark) this.#mark = { ...this.#mark, entries: id };
  }

  /** Texts that change whenever something may have been written, also by another process. */
  revisions(life: number): Promise<(what: string) => string> {
    return this.ask(life, (connection) => {
      const others = dataVersion(connection);
      return (what) => `${this.#openings} ${others} ${what} ${this.#writes.get(what) ?? 0}`;
    });
  }

  /** Waits for what is being saved. It can be used again. */
  async close(when?: 'now' | 'later'): Promise<void> {
    this.#flush();
    while (this.#saving !== null) await this.#saving;
    const open = this.#open;
    this.#open = null;
    await open?.connection.close(when);
  }

  async #opened(): Promise<OpenFile> {
    if (this.#opening) return this.#opening;
    if (this.#open && this.#isSound(this.#open)) return this.#open;
    this.#opening = this.#openAgain();
    try {
      return await this.#opening;
    } finally {
      this.#opening = null;
    }
  }

  async #openAgain(): Promise<OpenFile> {
    // A handle that is left open holds locks on a file that was emptied.
    await this.close('now');
    finishReplacing(this.file);
    const missing = this.#mark && { at: this.now, why: wasLost(this.file) };
    const opening = { now: this.now, warn: this.#warn, ...(missing && { lost: missing }) };
    const connection = await openDatabase(this.file, opening);
    const mark = markOf(connection);
    if (this.#mark && (mark.origin.id !== this.#mark.origin.id || mark.entries < this.#mark.entries)) {
      this.#life += 1;
      mark.origin = { ...mark.origin, lost: missing };
      connection.run('UPDATE origin SET body = ?', JSON.stringify(mark.origin));
      this.#warn(`${wasLost(this.file)}: what it knew of the service is lost`);
    }
    this.#mark = mark;
    this.#lost = mark.origin.lost;
    this.#openings += 1;
    const identity = identityOf(filesOf(this.file));
    const print = printOf(this.file);
    return (this.#open = { connection, identity, print, version: dataVersion(connection) });
  }

  /** Where another process has changed it by SQLite, SQLite tells; else it was overwritten, or is another file. */
  #isSound(open: OpenFile): boolean {
    try {
      const [print, version] = [printOf(this.file), dataVersion(open.connection)];
      const isUndisturbed = print === open.print || version !== open.version;
      open.print = print;
      open.version = version;
      return isUndisturbed && identityOf(filesOf(this.file)) === open.identity;
    } catch {
      return false;
    }
  }

  #settled(): void {
    if (this.#open) this.#open.print = printOf(this.file);
  }
}

interface OpenFile {
  readonly connection: SqliteConnection;
  readonly identity: string;
  /** Its content and the commits of other connections, when it was last known to be sound. */
  print: string;
  version: string;
}

/** By which a file is known again, and whether it is as new as it was. */
interface Mark {
  origin: Origin;
  /** The number of the journal's last entry ever. */
  readonly entries: number;
}

const markOf = (connection: SqliteConnection): Mark => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own, by the schema version
  const row = connection.get(
    "SELECT body, (SELECT seq FROM sqlite_sequence WHERE name = 'journal') AS entries FROM origin",
  ) as { readonly body: string; readonly entries: number | null };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
  return { origin: JSON.parse(row.body) as Origin, entries: row.entries ?? 0 };
};

export type Part = (connection: SqliteConnection) => void;

/** Tasks that are saved in one transaction. */
interface Batch {
  readonly life: number;
  readonly parts: Part[];
  rows: number;
  done: Promise<void>;
  save: () => void;
}

/** A transaction of so many takes some 20 ms. */
export const mostRows = 2_000;

/** Changes when another connection has committed. */
const dataVersion = (connection: SqliteConnection): string => {
  const row = connection.get('PRAGMA data_version');
  return typeof row === 'object' && row !== null && 'data_version' in row ? String(row.data_version) : '';
};

/** Identifies the content of the file. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(' ') : 'none';
};

const wasLost = (file: string): string =>
  `${file} was removed, emptied or replaced while this program used it`;

const removed = (file: string): MemoryError =>
  new MemoryError(`${wasLost(file)}: nothing more is sent in this pass`);
