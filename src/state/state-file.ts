import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { withTexts, type Closing, type SqliteConnection, type Value } from './connection.ts';
import { finishReplacing, replaceDatabase, type Notice } from './damage.ts';
import {
  DamagedMemoryError,
  filesOf,
  markFileOf,
  memoryError,
  openDatabase,
  type Loss,
  type Origin,
} from './database.ts';
import { acquireLock } from './lock.ts';
import { MemoryError, type Instant } from './memory.ts';
import { identityOf, readNote, writeNote } from './private-file.ts';
import type { Query } from './tables.ts';

/**
 * The state file of a directory: one connection for all clients of this process, from its first use to the end, which one
 * task uses at a time. Any error closes it, and so does another file in its place; then it is opened and checked again.
 */
export class StateFile {
  readonly file: string;
  /** What its openings had to say, until there is somebody to tell. */
  readonly notices: Notice[] = [];
  readonly #clock: Pick<Clock, 'now' | 'uptime'>;
  readonly #inTurn = limit(1);
  #open: OpenFile | null = null;
  /** What it was when it was used last, by this process or one before. */
  #mark: Mark | null = null;
  /** The same, as it is noted beside it. */
  #noted = '';
  /** Changes when what this process has saved may be lost. */
  #life = 0;
  #lost: Loss | null = null;
  #waiting: Change[] = [];

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

  /**
   * Opens it for a task, whose later statements throw if the file is lost meanwhile. Throws `DamagedMemoryError`, unless
   * a file that cannot be used may make way for a new one.
   */
  begin(mayReplace = false): Promise<number> {
    return this.#inTurn(async () => {
      if (!mayReplace) await this.#opened();
      else {
        // If it was open before it was damaged, the mark is what shows it.
        const marked = (): Promise<Mark> => this.#use(({ connection }) => markOf(connection));
        const mark = await marked().catch(async (error: unknown) => {
          if (!(error instanceof DamagedMemoryError)) throw error;
          await this.#replace();
          return marked();
        });
        this.#setMark(mark);
      }
      return this.#life;
    });
  }

  /** Reads. `life`: what the task began with. */
  ask<T>(life: number, task: (query: Query) => Promise<T>): Promise<T> {
    return this.#inTurn(() =>
      this.#use((open) => {
        if (life !== this.#life) throw removed(this.file);
        return task(queryOn(open));
      }),
    );
  }

  /**
   * All or nothing. With a `size`, a number of rows, it may wait for more of its kind: what a pass has seen of a thousand
   * templates is synced to the disk a few times rather than a thousand times.
   */
  change<T>(life: number, task: (query: Query) => Promise<T>, size = mostRows): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = async (query: Query): Promise<() => void> => {
        const result = await task(query);
        return () => resolve(result);
      };
      this.#waiting.push({ life, run, reject, size });
      if (this.#waiting.reduce((sum, one) => sum + one.size, 0) >= mostRows) void this.#save();
      else if (this.#waiting.length === 1) void this.#saveWhenCalm();
    });
  }

  /** That this entry of the journal must be in any file that is used from now on. */
  noteEntry(id: number): void {
    if (this.#mark) this.#setMark({ ...this.#mark, entries: id });
  }

  /** Waits for what is being saved. It can be used again. */
  async close(when?: Closing): Promise<void> {
    void this.#save();
    await this.#inTurn(() => this.#shut(when));
  }

  /** Once nothing has come for a turn of the event loop. */
  async #saveWhenCalm(): Promise<void> {
    for (let before = 0; this.#waiting.length > before;) {
      before = this.#waiting.length;
      await setImmediate();
      await setImmediate();
    }
    await this.#save();
  }

  async #save(): Promise<void> {
    const changes = this.#waiting;
    this.#waiting = [];
    if (changes.length === 0) return;
    const save = this.#inTurn(() =>
      this.#use(async (open) => {
        const current = changes.filter(({ life }) => life === this.#life);
        for (const late of changes) if (!current.includes(late)) late.reject(removed(this.file));
        const { connection } = open;
        const done: (() => void)[] = [];
        const query = yielding(queryOn(open));
        await transaction(connection, async () => {
          for (const { run } of current) done.push(await run(query));
        });
        open.print = printOf(this.file);
        for (const resolve of done) resolve();
      }),
    );
    await save.catch((error: unknown) => changes.forEach(({ reject }) => reject(error)));
  }

  async #use<T>(task: (open: OpenFile) => T | Promise<T>): Promise<T> {
    const open = await this.#opened();
    try {
      return await task(open);
    } catch (error) {
      await this.#shut('now');
      throw memoryError(this.file, error);
    }
  }

  async #shut(when?: Closing): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.connection.close(when);
  }

  /** Two processes that move it aside at once would move the new one. */
  async #replace(): Promise<void> {
    const { signal } = new AbortController();
    const file = path.join(path.dirname(this.file), 'replacing.db');
    const replacing = await acquireLock({ file, timeout: 30_000, signal, onWait: () => undefined });
    try {
      await this.#opened();
    } catch (error) {
      if (!(error instanceof DamagedMemoryError)) throw error;
      this.notices.push(...(await replaceDatabase(this.file, error, { now: this.now, warn: this.#warn })));
      this.#mark = null;
      this.#noted = '';
      this.#life += 1;
    } finally {
      await replacing.release();
    }
  }

  async #opened(): Promise<OpenFile> {
    if (this.#open && this.#isSound(this.#open)) return this.#open;
    // A handle that is left open holds locks on a file that was emptied.
    await this.#shut('now');
    finishReplacing(this.file);
    this.#mark ??= readMark(this.file);
    const missing = this.#mark && { at: this.now, why: wasLost(this.file) };
    const opening = { now: this.now, warn: this.#warn, ...(missing && { lost: missing }) };
    const connection = await openDatabase(this.file, opening);
    try {
      const { id, entries } = markOf(connection);
      if (missing && (id !== this.#mark?.id || entries < this.#mark.entries)) {
        this.#life += 1;
        connection.all('UPDATE origin SET body = ?', JSON.stringify({ id, lost: missing } satisfies Origin));
        this.#setMark({ id, entries });
      }
      this.#mark = { id, entries };
      this.#lost = originIn(connection).lost;
      const identity = identityOf(filesOf(this.file));
      return (this.#open = {
        connection,
        identity,
        print: printOf(this.file),
        version: versionOf(connection),
      });
    } catch (error) {
      await connection.close('now');
      throw memoryError(this.file, error);
    }
  }

  /** Where another process has changed it by SQLite, SQLite tells; else it was overwritten, or is another file. */
  #isSound(open: OpenFile): boolean {
    try {
      const [print, version] = [printOf(this.file), versionOf(open.connection)];
      const isUndisturbed = print === open.print || version !== open.version;
      Object.assign(open, { print, version });
      return isUndisturbed && identityOf(filesOf(this.file)) === open.identity;
    } catch {
      return false;
    }
  }

  readonly #warn = (message: string): void => void this.notices.push([message]);

  #setMark(mark: Mark): void {
    this.#mark = mark;
    const note = JSON.stringify(mark);
    if (note !== this.#noted) writeNote(markFileOf(this.file), note);
    this.#noted = note;
  }
}

interface OpenFile {
  readonly connection: SqliteConnection;
  readonly identity: string;
  /** Its content and the commits of other connections, when it was last known to be sound. */
  print: string;
  version: string;
}

interface Change {
  readonly life: number;
  /** Resolves with what tells its success. */
  readonly run: (query: Query) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
  readonly size: number;
}

/** A transaction of so many takes some 20 ms. */
const mostRows = 2_000;

const queryOn =
  ({ connection }: OpenFile): Query =>
  async <Row>(sql: string, values: readonly unknown[] = []) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts and numbers
    const rows = connection.all(sql.replaceAll('$', '?'), ...(values as readonly Value[]));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the columns that were asked for
    return rows.map((row) => withTexts(row as object) as Row);
  };

const transaction = async (connection: SqliteConnection, task: () => Promise<void>): Promise<void> => {
  connection.exec('BEGIN IMMEDIATE');
  try {
    await task();
    connection.exec('COMMIT');
  } catch (error) {
    try {
      connection.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself if the disk is full. The first error counts.
    }
    throw error;
  }
};

/** Saving 30,000 records in one go would block the event loop for a third of a second. */
const yielding = (query: Query): Query => {
  let turnedAt = performance.now();
  return async (sql, values) => {
    if (performance.now() - turnedAt > 20) {
      await setImmediate();
      turnedAt = performance.now();
    }
    return query(sql, values);
  };
};

/** By which a file is known again, and whether it is as new as it was. */
interface Mark {
  readonly id: string;
  /** The number of the last entry that its journal ever had. */
  readonly entries: number;
}

const markOf = (connection: SqliteConnection): Mark => {
  const row = connection.get("SELECT seq FROM sqlite_sequence WHERE name = 'journal'");
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  return { id: originIn(connection).id, entries: (row as { seq: number } | undefined)?.seq ?? 0 };
};

const originIn = (connection: SqliteConnection): Origin => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the column that was asked for
  const row = connection.get('SELECT CAST(body AS BLOB) AS body FROM origin') as { body: string };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this program's own
  return JSON.parse(withTexts(row).body) as Origin;
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

/** Changes when another connection has committed. */
const versionOf = (connection: SqliteConnection): string =>
  String(Object.values(connection.get('PRAGMA data_version') ?? {})[0]);

/** Identifies the content of the file. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.dev, stats.ino, stats.size, stats.mtimeNs].join(' ') : 'none';
};

const wasLost = (file: string): string =>
  `${file} was removed, emptied or replaced since this program used it last`;

const removed = (file: string): MemoryError =>
  new MemoryError(`${wasLost(file)}: nothing more is sent in this pass`);
