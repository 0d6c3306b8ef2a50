import { statSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { Closing, SqliteConnection } from './connection.ts';
import {
  DamagedMemoryError,
  dialect,
  filesOf,
  markFileOf,
  memoryError,
  moveAside,
  noteOrigin,
  openDatabase,
  originIn,
  readSuspensions,
  type Loss,
} from './database.ts';
import { endOf } from './instant.ts';
import { acquireLock } from './lock.ts';
import { MemoryError, type Instant } from './memory.ts';
import { identityOf, readNote, writeNote } from './private-file.ts';
import type { Say } from './store-handle.ts';
import { statementsIn, type ClientTables, type OpeningRow, type Query } from './tables.ts';

/**
 * The state file of a directory: one connection for all clients of this process, from its first use to the end, which one
 * task uses at a time. Any error closes it, and so does another file in its place; then it is opened and checked again.
 */
export class StateFile {
  readonly file: string;
  /** What its openings had to say, until there is somebody to tell. */
  readonly #notices: Parameters<Say>[] = [];
  readonly #clock: Pick<Clock, 'now' | 'uptime'>;
  readonly #inTurn = limit(1);
  #open: OpenFile | null = null;
  /** What it was when it was used last, by this process or one before. */
  #mark: Mark | null = null;
  /** Changes when what this process has saved may be lost. */
  #life = 0;
  #lost: Loss | null = null;
  #mayReplace = false;

  constructor(file: string, clock: Pick<Clock, 'now' | 'uptime'>) {
    this.file = file;
    this.#clock = clock;
  }

  /**
   * Opens it for a task, whose later statements throw if the file is lost meanwhile. Where there is somebody to tell, a file
   * that is damaged makes way for a new one, now or whenever that is found.
   */
  async begin(say: Say | null = null): Promise<ClientTables> {
    this.#mayReplace ||= say !== null;
    const look = (): Promise<void> => this.#use(null, () => Promise.resolve());
    await look().catch((error: unknown) => {
      if (say === null || !(error instanceof DamagedMemoryError)) throw error;
      return look();
    });
    if (say !== null) for (const notice of this.#notices.splice(0)) say(...notice);
    return this.tables(this.#life);
  }

  /** Why nothing may be added, for so many milliseconds after a loss: what was forgotten may still take effect. */
  holdsAdds(lostPause: number): string | null {
    if (this.#lost === null) return null;
    const { at, why } = this.#lost;
    // To the second: what two clocks say differs by a little each time, and is to be said once.
    const until = Math.ceil(endOf(at, lostPause, this.#now) / 1_000) * 1_000;
    return until > this.#now.now ? `${why}: no adds before ${new Date(until).toISOString()}` : null;
  }

  /** `life`: as it was when it was opened for a task; null for tasks to which it does not matter what was lost. */
  tables(life: number | null = null): ClientTables {
    const ask: ClientTables['ask'] = (task) => this.#use(life, (connection) => task(queryOn(connection)));
    const transaction: ClientTables['transaction'] = (task, isSynced = true) =>
      this.#use(life, async (connection) => {
        // What is not synced follows what is: of a machine that loses power it may be missing, in the order of saving.
        const synchronous = isSynced ? 'FULL' : 'NORMAL';
        const used = identityOf([this.file]);
        connection.exec(`PRAGMA synchronous = ${synchronous}; BEGIN IMMEDIATE`);
        const result = await task(yielding(queryOn(connection)));
        // Where it fails the connection is closed, which rolls back.
        connection.exec('COMMIT');
        // Another file may have taken its place meanwhile, which has nothing of it.
        if (identityOf([this.file]) !== used) throw removed(this.file);
        this.#open = { connection, print: printOf(this.file) };
        // Before a write is sent: its entry must be in any file that is used from now on.
        this.#note(originIn(connection));
        return result;
      });
    return {
      sql,
      ask,
      query: (...statement) => ask((query) => query(...statement)),
      transaction,
      opening: (scope, read) => ask(async (query) => read(await query<OpeningRow>(sql.opening, [scope]))),
      begin: async (scope, body) => {
        const [begun] = await transaction((query) => query<{ id: number }>(sql.begin, [scope, body]));
        return begun!.id;
      },
      ended: () => undefined,
      now: () => Promise.resolve(this.#now.now),
      // A revision is any number.
      era: () => '',
    };
  }

  get #now(): Instant {
    return { now: this.#clock.now(), uptime: this.#clock.uptime() };
  }

  /** Waits for what is being saved. It can be used again. */
  async close(when?: Closing): Promise<void> {
    await this.#inTurn(() => this.#shut(when));
  }

  #use<T>(life: number | null, task: (connection: SqliteConnection) => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      let used = '';
      try {
        used = identityOf([this.file]);
        const { connection } = await this.#opened();
        if (life !== null && life !== this.#life) throw removed(this.file);
        return await task(connection);
      } catch (thrown) {
        await this.#shut('now');
        const error = memoryError(this.file, thrown);
        if (!this.#mayReplace || !(error instanceof DamagedMemoryError)) throw error;
        throw new DamagedMemoryError(await this.#replace(error, used));
      }
    });
  }

  async #shut(when?: Closing): Promise<void> {
    const open = this.#open;
    this.#open = null;
    await open?.connection.close(when);
  }

  /** `lost`: what is known to be lost with the file before. */
  async #opened(lost: Loss | null = null): Promise<OpenFile> {
    if (this.#open?.print === printOf(this.file)) return this.#open;
    // A handle that is left open holds locks on a file that was emptied.
    await this.#shut('now');
    const before = this.#mark ?? readMark(this.file);
    const connection = await openDatabase(this.file, (message) => void this.#notices.push([message]));
    try {
      const found = originIn(connection);
      const isOther = before !== null && (found.id !== before.id || found.entries < before.entries);
      const loss = lost ?? (isOther ? { at: this.#now, why: wasLost(this.file) } : null);
      if (loss !== null) {
        this.#life += 1;
        noteOrigin(connection, { id: found.id, lost: loss });
      }
      this.#lost = loss ?? found.lost;
      this.#note(found);
      return (this.#open = { connection, print: printOf(this.file) });
    } catch (error) {
      await connection.close('now');
      throw memoryError(this.file, error);
    }
  }

  /** Moves the file aside, and takes over what was suspended. Returns what people have to know. `used`: the file that it is. */
  async #replace({ message }: DamagedMemoryError, used: string): Promise<string> {
    const { signal } = new AbortController();
    const lock = path.join(path.dirname(this.file), 'replacing.db');
    const held = await acquireLock({ file: lock, timeout: 30_000, signal, onWait: () => undefined });
    try {
      // Another process may have done it meanwhile.
      if (used !== identityOf([this.file])) return message;
      const suspensions = await readSuspensions(this.file);
      const why = `${message}: it was moved to ${moveAside(this.file)}`;
      const { connection } = await this.#opened({ at: this.#now, why });
      for (const { scope, key, body } of suspensions ?? []) connection.all(sql.suspend, [scope, key, body]);
      const said = `${why}; a new one starts without what it knew of the service`;
      this.#notices.push([said]);
      if (suspensions === null)
        this.#notices.push([
          `what was suspended in ${this.file} cannot be read, and is suspended no more: suspend it again`,
          'error',
        ]);
      else if (suspensions.length > 0)
        this.#notices.push([`${suspensions.length} suspensions in ${this.file} are kept`]);
      return said;
    } catch (error) {
      throw memoryError(this.file, error);
    } finally {
      await held.release();
    }
  }

  /** What the next process knows it again by: without that, the loss of its journal would go unseen. */
  #note({ id, entries }: Mark): void {
    if (this.#mark?.id === id && this.#mark.entries === entries) return;
    this.#mark = { id, entries };
    writeNote(markFileOf(this.file), JSON.stringify(this.#mark));
  }
}

const sql = statementsIn(dialect);

interface OpenFile {
  readonly connection: SqliteConnection;
  /** Of the file, when it was known to be sound. */
  readonly print: string;
}

/** By which a file is known again, and whether it is as new as it was. */
interface Mark {
  readonly id: string;
  /** The number of the last entry that its journal ever had. */
  readonly entries: number;
}

const queryOn =
  (connection: SqliteConnection): Query =>
  async <Row>(statement: string, values?: readonly unknown[]) =>
    connection.all<Row>(statement, values);

/** Saving 30,000 records in one go would block the event loop for a third of a second. */
const yielding =
  (query: Query): Query =>
  async (statement, values) => {
    if (isYieldDue()) await yieldToOthers();
    return query(statement, values);
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

/** Of the file, with its content, and of its journals: another one if somebody else replaced or overwrote any. */
const printOf = (file: string): string => {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return `${identityOf(filesOf(file))} ${stats?.size} ${stats?.mtimeNs}`;
};

const wasLost = (file: string): string =>
  `${file} was removed, emptied or replaced since this program used it last`;

const removed = (file: string): MemoryError =>
  new MemoryError(`${wasLost(file)}: nothing more is sent in this pass`);
