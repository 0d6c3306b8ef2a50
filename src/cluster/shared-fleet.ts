import { randomUUID } from 'node:crypto';
import type { PgBoss } from 'pg-boss';
import type { Logger } from 'pino';
import type { Duties, Fleet, FleetClient, PassReport, UsedNames } from '../daemon/fleet.ts';
import type { PassStarter } from '../daemon/passes/loop.ts';
import { messageOf } from '../errors.ts';
import type { Role } from '../settings/table.ts';
import type { PostgresDatabase } from './postgres/database.ts';
import { listenOn, type Listener } from './postgres/listen.ts';
import { migrate, NewerSchemaError } from './postgres/schema.ts';
import { requireBoss, startBoss } from './boss.ts';
import { fleetFacts, type FleetFacts } from './fleet-status.ts';
import { passQueueOf, type PassJob, type PassQueue } from './pass-queue.ts';
import { QueuedPasses } from './queued-passes.ts';
import { aliveReplicas, replicasOf, type Replicas } from './replicas.ts';
import { fleetChannel, fleetNews, reportsOf, type Reports } from './reports.ts';
import { RequestedPasses } from './requested-passes.ts';
import { pausedServers, type PausedServers } from './servers.ts';
import { forgetUnused } from './used-names.ts';
import { Worker } from './worker.ts';

export interface FleetOptions {
  /** Somebody else closes it. */
  readonly database: PostgresDatabase;
  readonly role: Role;
  /** Milliseconds. */
  readonly leaseDuration: number;
  readonly version: string;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly log: Logger;
  /** Called for each pass with the milliseconds since its time came. */
  readonly onTaken: (lateness: number) => void;
  /** Called after each attempt to use the database. */
  readonly onDatabase: (isUp: boolean) => void;
  /** Called every third of `leaseDuration`. */
  readonly onFacts: (facts: FleetFacts) => void;
}

/** Processes that share a PostgreSQL. Throws `UserError` where this Node.js cannot take part. */
export const openFleet = (options: FleetOptions): Fleet => {
  requireBoss();
  return new SharedFleet(options);
};

class SharedFleet implements Fleet {
  readonly duties: Duties;
  summary: Fleet['summary'] = null;
  readonly #options: FleetOptions;
  readonly #isWorker: boolean;
  readonly #passes = new Map<string, QueuedPasses>();
  readonly #database: PostgresDatabase;
  readonly #queue: PassQueue;
  readonly #requests: RequestedPasses;
  readonly #servers: PausedServers;
  readonly #replicas: Replicas;
  readonly #reports: Reports;
  readonly #worker: Worker;
  readonly #timers = new Set<NodeJS.Timeout>();
  #boss: Promise<PgBoss> | null = null;
  #listener: Listener | null = null;
  readonly #news = new Map<string, NodeJS.Timeout>();
  readonly #troubles = new Map([['queue', 'the queue of passes was not opened yet']]);
  readonly #unfinished = new Set<Promise<unknown>>();
  #isClosing = false;
  #complainedAt = -Infinity;

  constructor(options: FleetOptions) {
    const { role, database, leaseDuration, log } = options;
    this.#options = options;
    this.#isWorker = role === 'all' || role === 'worker';
    this.duties = {
      files: role === 'all' || role === 'source',
      schedule: false,
      answers: this.#isWorker,
    };
    this.#database = database;
    const id = randomUUID();
    this.#queue = passQueueOf(() => this.#openBoss(), leaseDuration);
    this.#requests = new RequestedPasses({
      put: (pass) =>
        this.#queue.putFirst(pass).catch((error: unknown) => {
          this.#complain({ what: 'request', reason: messageOf(error) });
          return null;
        }),
      onPut: () => this.#tell(fleetNews.pass, callDelay),
      pause: retryInterval,
    });
    this.#servers = pausedServers(this.#database);
    this.#replicas = replicasOf(this.#database, { id, ...options });
    this.#reports = reportsOf(this.#database, id);
    this.#worker = new Worker({
      queue: {
        renew: (jobs) => this.#queue.renew(jobs),
        take: (...what) =>
          this.#watched('queue', async () => {
            await migrate(this.#database);
            return this.#queue.take(...what);
          }),
      },
      servers: this.#servers,
      run: (job) => this.#run(job),
      log,
      renewal: leaseDuration / 3,
    });
  }

  passesOf(client: FleetClient): PassStarter {
    const { name } = client.settings();
    const passes = new QueuedPasses({
      client,
      ask: (pass) => this.#requests.add(pass),
      onClose: () => this.#passes.delete(name),
    });
    this.#passes.set(name, passes);
    return passes;
  }

  async start(onReport: (report: PassReport) => void, used: () => UsedNames): Promise<void> {
    const { leaseDuration } = this.#options;
    const signOfLife = (): Promise<void> =>
      this.#watched('database', async () => {
        await migrate(this.#database);
        await this.#replicas.renew(leaseDuration);
      });
    const takeNews = (): Promise<void> => this.#takeNews(onReport);
    const join = async (): Promise<void> => {
      await this.#openBoss();
      await takeNews();
      if (this.#isWorker) await this.#putAll();
      await signOfLife();
      await this.#lookAround();
    };
    this.#options.onDatabase(true);
    if (!(await this.#tried('start', join))) this.#until('start', join);
    this.#every(leaseDuration / 3, 'replica', signOfLife);
    this.#every(leaseDuration / 3, 'facts', () => this.#lookAround());
    this.#every(newsInterval, 'reports', takeNews);
    const forget = (): Promise<void> => forgetUnused(this.#database, used());
    this.#later(cleanDelay, async () => {
      await this.#tried('unused', forget);
      this.#every(cleanInterval, 'unused', forget);
    });
    this.#listenTo(takeNews);
    if (!this.#isWorker) return;
    this.#every(sweepInterval, 'sweep', () => this.#sweep());
    this.#worker.start();
  }

  async #lookAround(): Promise<void> {
    const facts = await fleetFacts(this.#database);
    this.#options.onFacts(facts);
    const processes = await aliveReplicas(this.#database);
    this.summary = { ...facts, processes, pausedServers: await this.#servers.list() };
  }

  get trouble(): string | null {
    return [...this.#troubles.values()][0] ?? null;
  }

  /** Whether database and queue can be used is known from the last attempt. */
  async #watched<T>(what: 'database' | 'queue', task: () => Promise<T>): Promise<T> {
    const before = this.trouble;
    try {
      const result = await task();
      this.#troubles.delete(what);
      return result;
    } catch (error) {
      this.#troubles.set(what, messageOf(error));
      throw error;
    } finally {
      if (this.trouble !== before) this.#tellTrouble();
    }
  }

  #tellTrouble(): void {
    this.#options.onDatabase(this.trouble === null);
    for (const passes of this.#passes.values()) passes.changed();
  }

  /** A burst of reports is read once. */
  #listenTo(takeNews: () => Promise<void>): void {
    let isWaiting = false;
    this.#listener = listenOn(this.#database.url, fleetChannel, (news) => {
      if (news === fleetNews.pass) this.#worker.wake();
      if (isWaiting || news === fleetNews.pass) return;
      isWaiting = true;
      this.#later(burst, async () => {
        isWaiting = false;
        await this.#tried('reports', takeNews);
      });
    });
  }

  async #takeNews(onReport: (report: PassReport) => void): Promise<void> {
    for (const report of await this.#reports.news()) {
      this.#passes.get(report.event.client)?.wasMade();
      onReport(report);
    }
  }

  share(report: PassReport): void {
    this.#meanwhile('report', async () => {
      await this.#reports.save(this.#options.redact(report));
      this.#tell(fleetNews.report, reportDelay);
    });
  }

  async close(others: Promise<unknown>): Promise<void> {
    this.#isClosing = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all([this.#worker.close(), others]);
    await this.#requests.close();
    await Promise.all(this.#unfinished);
    for (const [news, timer] of this.#news) {
      clearTimeout(timer);
      await this.#notify(news).catch(() => undefined);
    }
    await this.#listener?.close();
    await this.#replicas.leave().catch(() => undefined);
    const boss = await this.#boss?.catch(() => null);
    await boss?.stop({ graceful: false }).catch(() => undefined);
  }

  async #run(job: PassJob): Promise<void> {
    const passes = this.#passes.get(job.client);
    this.#options.onTaken(job.lateness);
    await this.#tried('job', async () => {
      if (passes === undefined) {
        // While this process ends, others know the client; else its file may not have come here yet.
        await (this.#isClosing ? this.#queue.handOver(job) : this.#queue.giveBack(job));
        return;
      }
      const outcome = await passes.run(job);
      if (outcome === 'handed-over' || (outcome === 'failed' && (await this.#isOutdated()))) {
        await this.#queue.handOver(job);
        this.#tell(fleetNews.pass, callDelay);
        return;
      }
      if (typeof outcome === 'object') await this.#servers.pause(passes.server, outcome.failedFor);
      const next = passes.next(job, outcome);
      this.#meanwhile('job', () => this.#queue.finish(job, next));
    });
  }

  /** A failure of a program that is too old is none of the client's. */
  #isOutdated(): Promise<boolean> {
    return migrate(this.#database).then(
      () => false,
      (error: unknown) => error instanceof NewerSchemaError,
    );
  }

  /** Soon, once for many, and by itself, for it would keep the commits of others waiting. */
  #tell(news: string, delay: number): void {
    if (this.#news.has(news)) return;
    const timer = setTimeout(() => {
      this.#news.delete(news);
      void this.#tried('call', () => this.#notify(news));
    }, delay);
    this.#news.set(news, timer);
  }

  #notify(news: string): Promise<unknown> {
    return this.#database.query(`NOTIFY ${fleetChannel}, '${news}'`);
  }

  /** Who comes first makes a pass of each client at once. */
  async #putAll(): Promise<void> {
    const isFirst = !(await this.#replicas.hasOtherWorkers());
    const waiting = new Set(await this.#sweep());
    if (!isFirst) return;
    for (const passes of this.#passes.values())
      if (waiting.has(passes.first.client)) await this.#queue.putFirst(passes.first);
  }

  /** Puts in what was lost, and returns the clients that were waiting. */
  #sweep(): Promise<readonly string[]> {
    return this.#queue.putMissing([...this.#passes.values()].map(({ first }) => first));
  }

  #openBoss(): Promise<PgBoss> {
    const open = async (): Promise<PgBoss> => {
      await migrate(this.#database);
      const onTrouble = (what: unknown): void =>
        this.#complain({
          what: 'queue',
          ...(what instanceof Error ? { reason: messageOf(what) } : { warning: what }),
        });
      return startBoss({ database: this.#database, supervises: this.#isWorker, onTrouble });
    };
    this.#boss ??= this.#watched('queue', open).catch((error: unknown) => {
      this.#boss = null;
      throw error;
    });
    return this.#boss;
  }

  /** The next pass does not wait for it. */
  #meanwhile(what: string, task: () => Promise<unknown>): void {
    const ended: Promise<unknown> = this.#tried(what, task).finally(() => this.#unfinished.delete(ended));
    this.#unfinished.add(ended);
  }

  /** What PostgreSQL does not take now is made up for later: by the sweep, by the next pass, by whoever takes over. */
  async #tried(what: string, task: () => Promise<unknown>): Promise<boolean> {
    try {
      await task();
      return true;
    } catch (error) {
      this.#complain({ what, reason: messageOf(error) });
      return false;
    }
  }

  /** At most once a minute: while PostgreSQL is away, everything fails, again and again. */
  #complain(fields: Readonly<Record<string, unknown>>): void {
    if (this.#isClosing) return;
    const isNew = performance.now() - this.#complainedAt > complaintInterval;
    if (isNew) this.#complainedAt = performance.now();
    this.#options.log[isNew ? 'warn' : 'debug'](
      { event: 'fleet.trouble', ...fields },
      'PostgreSQL does not do what processes share passes by; will retry',
    );
  }

  #every(interval: number, what: string, task: () => Promise<unknown>): void {
    this.#later(interval, async () => {
      await this.#tried(what, task);
      this.#every(interval, what, task);
    });
  }

  #until(what: string, task: () => Promise<unknown>): void {
    this.#later(retryInterval, async () => {
      if (!(await this.#tried(what, task))) this.#until(what, task);
    });
  }

  #later(delay: number, task: () => Promise<void>): void {
    if (this.#isClosing) return;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void task();
      },
      delay * (0.9 + 0.2 * Math.random()),
    ).unref();
    this.#timers.add(timer);
  }
}

/** Milliseconds. */
const retryInterval = 2_000;
const complaintInterval = 60_000;
const newsInterval = 5_000;
const cleanDelay = 10_000;
const cleanInterval = 12 * 3_600_000;
const burst = 200;
const callDelay = 10;
const reportDelay = 200;
const sweepInterval = 3 * 60_000;
