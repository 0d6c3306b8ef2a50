import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { bodyIn, type SqliteConnection } from './connection.ts';
import { replaceDatabase, finishReplacing, type Replaced } from './damage.ts';
import { DamagedMemoryError, filesOf, markFileOf, memoryError, openDatabase } from './database.ts';
import { acquireLock } from './lock.ts';
import { MemoryError, type Instant } from './memory.ts';
import { identityOf, readNote, writeNote } from './private-file.ts';
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
  /** What it was when it was used last, by this process or one before. */
  #mark: Mark | null = null;
  /** The same, as it is noted beside it. */
  #noted = '';
  /** Changes when what this process has saved may be lost. */
  #life = 0;
  #lost: Loss | null = null;
  /** What its openings had to say, until there is somebody to tell. */
  readonly #unsaid: string[] = [];
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
  async begin(): Promise<number> {
    await this.#opened();
    return this.#life;
  }

  /** The same; a file that cannot be used makes way for a new one, with what to say of it. */
  async beginWriting(warn: (message: string) => void, onReplaced: OnReplaced): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#opened(onReplaced);
        for (const message of this.#unsaid.splice(0)) warn(message);
        const life = this.#life;
        this.#setMark(await this.ask(life, markOf));
        return life;
      } catch (error) {
        // It was open before it was damaged, and is opened again now.
        if (!(error instanceof DamagedMemoryError) || attempt > 1) throw error;
      }
    }
  }

  readonly #keepUnsaid = (message: string): void => void this.#unsaid.push(message);

  #setMark(mark: Mark): void {
    this.#mark = mark;
    const note = JSON.stringify(mark);
    if (note !== this.#noted) writeNote(markFileOf(this.file), note);
    this.#noted = note;
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
    if (this.#mark) this.#setMark({ ...this.#mark, entries: id });
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

  /** Others wait while it is opened, and while one that cannot be used makes way. */
  async #opened(onReplaced: OnReplaced | null = null): Promise<OpenFile> {
    while (this.#opening) await this.#opening.catch(() => undefined);
    if (this.#open && this.#isSound(this.#open)) return this.#open;
    this.#opening = this.#openAgain().catch((error: unknown) => {
      if (!(error instanceof DamagedMemoryError) || onReplaced === null) throw error;
      return this.#replace(onReplaced);
    });
    try {
      return await this.#opening;
    } finally {
      this.#opening = null;
    }
  }

  /** Two processes that move it aside at once would move the new one. */
  async #replace(onReplaced: OnReplaced): Promise<OpenFile> {
    const { signal } = new AbortController();
    const file = path.join(path.dirname(this.file), 'replacing.db');
    const replacing = await acquireLock({ file, timeout: 30_000, signal, onWait: () => undefined });
    try {
      return await this.#openAgain();
    } catch (error) {
      if (!(error instanceof DamagedMemoryError)) throw error;
      onReplaced(await replaceDatabase(this.file, error, { now: this.now, warn: this.#keepUnsaid }));
      this.#mark = null;
      this.#noted = '';
      this.#life += 1;
      return await this.#openAgain();
    } finally {
      await replacing.release();
    }
  }

  async #openAgain(): Promise<OpenFile> {
    // A handle that is left open holds locks on a file that was emptied.
    await this.close('now');
    finishReplacing(this.file);
    this.#mark ??= readMark(this.file);
    const missing = this.#mark && { at: this.now, why: wasLost(this.file) };
    const opening = { now: this.now, warn: this.#keepUnsaid, ...(missing && { lost: missing }) };
    const connection = await openDatabase(this.file, opening);
    try {
      const { id, entries } = markOf(connection);
      if (missing && (id !== this.#mark?.id || entries < this.#mark.entries)) {
        this.#life += 1;
        connection.run('UPDATE origin SET body = ?', JSON.stringify({ id, lost: missing }));
        this.#setMark({ id, entries });
      }
      this.#mark = { id, entries };
      this.#lost = lossIn(connection);
      this.#openings += 1;
      const identity = identityOf(filesOf(this.file));
      const print = printOf(this.file);
      return (this.#open = { connection, identity, print, version: dataVersion(connection) });
    } catch (error) {
      await connection.close('now');
      throw memoryError(this.file, error);
    }
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

type OnReplaced = (replaced: Replaced) => void;

/** By which a file is known again, and whether it is as new as it was. */
interface Mark {
  readonly id: string;
  /** The number of the last entry that its journal ever had. */
  readonly entries: number;
}

const markOf = (connection: SqliteConnection): Mark => {
  const row = connection.get(
    "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'journal') AS entries, CAST(body AS BLOB) AS body FROM origin",
  );
  const { id }: Origin = bodyIn(row);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
  return { id, entries: (row as { readonly entries: number | null }).entries ?? 0 };
};

const lossIn = (connection: SqliteConnection): Loss | null => {
  const { lost }: Origin = bodyIn(connection.get('SELECT CAST(body AS BLOB) AS body FROM origin'));
  return lost;
};

/** What the last process noted beside it: without that, the loss of its journal would go unseen. */
const readMark = (file: string): Mark | null => {
  try {
    const mark: unknown = JSON.parse(readNote(markFileOf(file)));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
    return typeof mark === 'object' ? (mark as Mark | null) : null;
  } catch {
    return null;
  }
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
  `${file} was removed, emptied or replaced since this program used it last`;

const removed = (file: string): MemoryError =>
  new MemoryError(`${wasLost(file)}: nothing more is sent in this pass`);
