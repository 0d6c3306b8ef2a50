import type { PgBoss } from 'pg-boss';
import { backoffDelay } from '../lib/backoff.ts';
import { batched } from '../lib/limit.ts';
import type { Trigger } from '../result.ts';
import { passQueue } from './boss.ts';

/** A pass that waits for its time. */
export interface WaitingPass {
  readonly client: string;
  /** The host of the hosting service. */
  readonly server: string;
  readonly trigger: Trigger;
  /** Failed passes since the last successful one. */
  readonly failures: number;
  /** How often a process that does not know its client has given it back. */
  readonly returns?: number;
}

/** A pass that this process makes now. */
export interface PassJob extends WaitingPass {
  /** Also of its pass, at the first attempt. */
  readonly id: string;
  /** Distinguishes this attempt from those of others, after this process was replaced. */
  readonly retryCount: number;
  /** Milliseconds since it was due. */
  readonly lateness: number;
}

export interface NextPass {
  readonly pass: WaitingPass;
  /** Milliseconds. */
  readonly delay: number;
}

/** The order of passes. No write depends on it: the lease separates two processes that make the same pass. */
export interface PassQueue {
  /** At most so many due passes, the urgent ones first, and none of these servers. */
  take(count: number, exceptServers: readonly string[]): Promise<readonly PassJob[]>;
  /** This process still works on them. */
  renew(jobs: readonly PassJob[]): Promise<void>;
  /** Its pass has ended, which is saved soon, with others. The next one comes after so many milliseconds, unless one is waiting already. */
  finish(job: PassJob, next: NextPass | null): Promise<void>;
  /** Another process makes its pass, at once. */
  handOver(job: PassJob): Promise<void>;
  /**
   * Gives a job back that this process cannot make: another one may. Later each time, and in the end it is dropped.
   * For as long after it is due again, this process takes nothing that was given back.
   */
  giveBack(job: PassJob): Promise<void>;
  /** At once, before others. Returns the id of its job: the waiting one of the client, if there is one. */
  putFirst(pass: WaitingPass): Promise<string>;
  /** Adds passes, due now, for clients without a waiting or running one. Returns the clients with a waiting one. */
  putMissing(passes: readonly WaitingPass[]): Promise<readonly string[]>;
}

export const passQueueOf = (boss: () => Promise<PgBoss>, leaseDuration: number): PassQueue => {
  const common = {
    // Less is not allowed. A pass may take any time while its process is alive.
    heartbeatSeconds: Math.max(10, Math.ceil(leaseDuration / 1_000)),
    expireInSeconds: 86_000,
    retryLimit: 1_000_000,
    retryDelay: 0,
  };
  const optionsOf = ({ client, server }: WaitingPass) => ({
    ...common,
    singletonKey: client,
    group: { id: server },
  });
  const dataOf = ({ client, server, trigger, failures, returns = 0 }: WaitingPass) => ({
    client,
    server,
    trigger,
    failures,
    returns,
  });
  /** By the clock of `performance`, until which it leaves to others what was given back. */
  let yieldsUntil = -Infinity;
  const putFirst = async (pass: WaitingPass): Promise<string> => {
    const options = { ...optionsOf(pass), startAfter: now, priority: askedFor };
    const { jobs } = await (await boss()).upsert(passQueue, dataOf(pass), options);
    if (jobs[0] === undefined) throw new Error('the pass that waited has just begun');
    return jobs[0];
  };
  const remove = async (...jobs: readonly PassJob[]): Promise<void> => {
    const attempts = jobs.map(({ id, retryCount }) => ({ id, retryCount }));
    await (await boss()).deleteJob(passQueue, attempts);
  };
  const insert = async (passes: readonly NextPass[]): Promise<void> => {
    const jobs = passes.map(({ pass, delay }) => ({
      ...optionsOf(pass),
      data: dataOf(pass),
      startAfter: delay / 1_000,
    }));
    if (jobs.length > 0) await (await boss()).insert(passQueue, jobs);
  };
  const finishSoon = batched<FinishedPass>(async (finished) => {
    await insert(finished.flatMap(({ next }) => next ?? []));
    await remove(...finished.map(({ job }) => job));
  }, moment);

  return {
    take: async (count, exceptServers) => {
      const jobs = await (
        await boss()
      ).fetch<WaitingPass>(passQueue, {
        batchSize: count,
        includeMetadata: true,
        ignoreGroups: [...exceptServers],
        ...(performance.now() < yieldsUntil && { maxPriority: askedFor }),
      });
      return jobs.map(({ id, retryCount, data, startAfter, startedOn }) => ({
        ...data,
        id,
        retryCount,
        lateness: Math.max(0, startedOn.getTime() - startAfter.getTime()),
      }));
    },
    renew: async (jobs) => {
      if (jobs.length === 0) return;
      const attempts = jobs.map(({ id, retryCount }) => ({ id, retryCount }));
      await (await boss()).touch(passQueue, attempts);
    },
    finish: (job, next) => finishSoon({ job, next }),
    giveBack: async (job) => {
      const returns = (job.returns ?? 0) + 1;
      const delay = backoffDelay(returns, returnGrowth);
      yieldsUntil = Math.max(yieldsUntil, performance.now() + 2 * delay);
      const options = { ...optionsOf(job), startAfter: delay / 1_000, priority: givenBack };
      if (returns <= mostReturns) await (await boss()).send(passQueue, dataOf({ ...job, returns }), options);
      await remove(job);
    },
    handOver: async (job) => {
      await putFirst(job);
      await remove(job);
    },
    putFirst,
    putMissing: async (passes) => {
      const known = new Map<string, boolean>();
      for (const { data, state } of await (
        await boss()
      ).findJobs<WaitingPass>(passQueue, { limit: mostClients }))
        known.set(data.client, known.get(data.client) === true || state !== 'active');
      const missing = passes.filter(({ client }) => !known.has(client));
      for (let from = 0; from < missing.length; from += pageSize)
        await insert(missing.slice(from, from + pageSize).map((pass) => ({ pass, delay: 0 })));
      return [...known].flatMap(([client, isWaiting]) => (isWaiting ? client : []));
    },
  };
};

interface FinishedPass {
  readonly job: PassJob;
  readonly next: NextPass | null;
}

/** Priorities; what is due by schedule has 0. */
const askedFor = 10;
const givenBack = 20;
/** Milliseconds in which ended passes are saved together. */
const moment = 100;
/** As an interval from now on, by the clock of the database. */
const now = '0';
const mostClients = 100_000;
/** Milliseconds: two days in all, in which the files of a new client reach every process. */
const returnGrowth = { first: 1_000, max: 5 * 60_000 };
const mostReturns = 580;
const pageSize = 1_000;
