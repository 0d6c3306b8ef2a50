import { statSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { withTexts, type Closing, type SqliteConnection, type Value } from './connection.ts';
import { finishReplacing, replaceDatabase, type Notice } from './damage.ts';
import {
  DamagedMemoryError,
  dialect,
  entriesIn,
  filesOf,
  markFileOf,
  memoryError,
  openDatabase,
  originIn,
  type Loss,
} from './database.ts';
import { acquireLock } from './lock.ts';
import { MemoryError, type Instant } from './memory.ts';
import { identityOf, readNote, writeNote } from './private-file.ts';
import { statementsIn, type Query, type Rows } from './tables.ts';

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
  #mayReplace = false;
  #waiting: WaitingChange[] = [];

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
   * Opens it for a task, whose later statements throw if the file is lost meanwhile. `mayReplace`: from now on a file that
   * is damaged makes way for a new one, now or whenever that is found.
   */
  async begin(mayReplace = false): Promise<Rows> {
    this.#mayReplace ||= mayReplace;
    const look = (): Promise<void> =>
      this.#inTurn(() => this.#use(({ connection }) => void (mayReplace && this.#noteEntries(connection))));
    await look().catch((error: unknown) => {
      if (!mayReplace || !(error instanceof DamagedMemoryError)) throw error;
      return look();
    });
    const life = this.#life;
    return {
      sql,
      ask: (task) =>
        this.#inTurn(() =>
          this.#use((open) => {
            if (life !== this.#life) throw removed(this.file);
            return task(queryOn(open));
          }),
        ),
      change: (task, size) => this.#change(life, task, size),
      now: () => Promise.resolve(this.now.now),
      life: () => `${this.file} ${life}`,
    };
  }

  /** Waits for what is being saved. It can be used again. */
  async close(when?: Closing): Promise<void> {
    void this.#save();
    await this.#inTurn(() => this.#shut(when));
  }

  /** What a pass has seen of a thousand templates is synced to the disk a few times rather than a thousand times. */
  #change<T>(life: number, task: (query: Query) => Promise<T>, size = mostRows): Promise<T> {
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
        // Before a write is sent: its entry must be in any file that is used from now on.
        this.#noteEntries(connection);
        for (const resolve of done) resolve();
      }),
    );
    await save.catch((error: unknown) => changes.forEach(({ reject }) => reject(error)));
  }

  async #use<T>(task: (open: OpenFile) => T | Promise<T>): Promise<T> {
    try {
      return await task(await this.#opened());
    } catch (thrown) {
      const used = this.#open;
      await this.#shut('now');
      const error = memoryError(this.file, thrown);
      if (!this.#mayReplace || !(error instanceof DamagedMemoryError)) throw error;
      const notices = await this.#replace(error, used);
      this.notices.push(...notices);
      const said = notices.map(([message]) => message).join('; ');
      throw new DamagedMemoryError(said || error.message);
    }
  }

  async #shut(when?: Closing): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.connection.close(when);
  }

  /** Two processes that move it aside at once would move the new one. */
  async #replace(damage: DamagedMemoryError, used: OpenFile | null): Promise<readonly Notice[]> {
    const { signal } = new AbortController();
    const file = path.join(path.dirname(this.file), 'replacing.db');
    const replacing = await acquireLock({ file, timeout: 30_000, signal, onWait: () => undefined });
    try {
      if (used === null) await this.#opened();
      if (used?.inode !== identityOf([this.file])) return [];
      return await this.#makeWay(damage);
    } catch (error) {
      if (!(error instanceof DamagedMemoryError)) throw error;
      return await this.#makeWay(error);
    } finally {
      await replacing.release();
    }
  }

  async #makeWay(damage: DamagedMemoryError): Promise<readonly Notice[]> {
    const notices = await replaceDatabase(this.file, damage, { now: this.now, warn: this.#warn });
    this.#mark = null;
    this.#noted = '';
    this.#life += 1;
    return notices;
  }

  async #opened(): Promise<OpenFile> {
    if (this.#open && this.#isSound(this.#open)) return this.#open;
    // A handle that is left open holds locks on a file that was emptied.
    await this.#shut('now');
    finishReplacing(this.file);
    this.#mark ??= readMark(this.file);
    const before = this.#mark;
    const missing = before && { at: this.now, why: wasLost(this.file) };
    const opening = { now: this.now, warn: this.#warn, ...(missing && { lost: missing }) };
    const connection = await openDatabase(this.file, opening);
    try {
      const { id, lost } = originIn(connection);
      const entries = entriesIn(connection);
      this.#mark = { id, entries };
      this.#lost = lost;
      if (missing && (id !== before.id || entries < before.entries)) {
        this.#life += 1;
        this.#lost = missing;
        connection.all('UPDATE origin SET body = ?', JSON.stringify({ id, lost: missing }));
        this.#noteEntries(connection);
      }
      return (this.#open = {
        connection,
        inode: identityOf([this.file]),
        identity: identityOf(filesOf(this.file)),
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

  /** What the next process knows it again by: without that, the loss of its journal would go unseen. */
  #noteEntries(connection: SqliteConnection): void {
    if (this.#mark === null) return;
    this.#mark = { ...this.#mark, entries: entriesIn(connection) };
    const note = JSON.stringify(this.#mark);
    if (note !== this.#noted) writeNote(markFileOf(this.file), note);
    this.#noted = note;
  }
}

const sql = statementsIn(dialect);

interface OpenFile {
  readonly connection: SqliteConnection;
  readonly inode: string;
  /** Of the file and its journals. */
  readonly identity: string;
  /** Its content and the commits of other connections, when it was last known to be sound. */
  print: string;
  version: string;
}

interface WaitingChange {
  readonly life: number;
  /** Resolves with what tells its success. */
  readonly run: (query: Query) => Promise<() => void>;
  readonly reject: (error: unknown) => void;
  readonly size: number;
}

/** By which a file is known again, and whether it is as new as it was. */
interface Mark {
  readonly id: string;
  /** The number of the last entry that its journal ever had. */
  readonly entries: number;
}

/** A transaction of so many takes some 20 ms. */
const mostRows = 2_000;

const queryOn =
  ({ connection }: OpenFile): Query =>
  async <Row>(statement: string, values: readonly unknown[] = []) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- texts and numbers
    const rows = connection.all(statement.replaceAll('$', '?'), ...(values as readonly Value[]));
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
  return async (statement, values) => {
    if (performance.now() - turnedAt > 20) {
      await setImmediate();
      turnedAt = performance.now();
    }
    return query(statement, values);
  };
};

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
