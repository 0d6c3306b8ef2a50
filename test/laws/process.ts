import type { ActualTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { HostingError } from '../../src/hosting/errors.ts';
import { MemoryError, type Memory } from '../../src/state/memory.ts';
import { suspend, type Client, type KeptBetweenPasses } from './client.ts';
import type { Failovers } from './failovers.ts';
import type { Judge } from './judge.ts';
import type { Pass as JudgedPass, Write } from './seen.ts';
import type { SimulatedService } from './service.ts';
import type { World } from './world.ts';

export const died = Symbol('died');

/** Why the state cannot be saved. */
export const storeFailures = ['the disk is full', 'PostgreSQL failed over'] as const;

/** Of each call, from 0 to 1. */
export interface Dangers {
  crash: number;
  fullDisk: number;
  /** Whether what failed may be on disk nevertheless. */
  readonly mayBeCommitted?: boolean;
  /** Whether somebody may suspend what it writes. */
  readonly maySuspend?: boolean;
}

const diskFaults = ({ mayBeCommitted = false }: Dangers): readonly DiskFault[] =>
  mayBeCommitted ? [null, 'the disk is full', 'committed, and an error'] : [null, 'the disk is full'];

type DiskFault = null | 'the disk is full' | 'committed, and an error';

export interface Surroundings {
  readonly world: World;
  readonly service: SimulatedService;
  readonly judge: Judge;
  readonly dangers: Dangers;
  readonly failovers: Failovers;
  /** How far its clock is ahead of the true time, in ms. */
  skew: number;
}

/** One process of the program: it may die at each of its calls, and then does nothing more. It tells the judge what it does. */
export const startProcess = (
  { world, service, judge, dangers, failovers, skew }: Surroundings,
  client: Client,
  memory: Memory,
  kept: KeptBetweenPasses,
  pass: JudgedPass,
  stopAt: number | null,
) => {
  const { random } = world;
  const stop = new AbortController();
  let state: 'alive' | 'dead' | 'ended' = 'alive';
  let calls = 0;
  let isSuspended = false;
  const { maySuspend = false } = dangers;
  let reportDeath: (value: typeof died) => void = () => undefined;
  const death = new Promise<typeof died>((resolve) => void (reportDeath = resolve));
  const forever = new Promise<never>(() => undefined);
  const mayDie = (name: string): boolean => {
    if (!world.choose(() => `the process dies ${name}`, [false, true], dangers.crash)) return false;
    world.note(() => `  x the process dies ${name}`);
    state = 'dead';
    reportDeath(died);
    return true;
  };

  const call = async <T>(name: string, latency: number, effect: () => T | Promise<T>): Promise<T> => {
    if (state === 'dead') return forever;
    if (state === 'ended') judge.report(`law 11: calls ${name} after the pass ended`);
    calls += 1;
    if (calls === stopAt) {
      world.note(() => '  . the program is told to end');
      judge.toldToEnd(pass);
      stop.abort();
    }
    if (mayDie(`before ${name}`)) return forever;
    // Parallel tasks get a turn, so that the order of calls is random as well.
    for (let turns = random.below(3); turns > 0; turns -= 1) await Promise.resolve();
    if (isDead()) return forever;
    world.advance(random.next() * latency);
    let value: Awaited<T>;
    try {
      value = await effect();
    } catch (error) {
      if (mayDie(`after ${name} failed`)) return forever;
      throw error;
    }
    if (isDead() || mayDie(`after ${name}`)) return forever;
    isSuspended ||= maySuspend && world.choose(() => `somebody suspends it after ${name}`, [false, true], 1);
    if (isSuspended) {
      suspend(client, null);
      judge.suspended(pass);
    }
    return value;
  };
  const isDead = (): boolean => state === 'dead';
  let isTakenOver = false;
  const onDisk = <T>(name: string, effect: () => Promise<T>): Promise<T> =>
    call(name, 2, async () => {
      const isWrite = name === 'begin' || name === 'save';
      const fault = isWrite
        ? world.choose(() => `${name} on disk`, diskFaults(dangers), dangers.fullDisk)
        : random.chance(dangers.fullDisk)
          ? 'the disk is full'
          : null;
      if (fault !== null) {
        world.note(() => `  ! ${name}: ${fault}`);
        if (fault !== 'the disk is full') await effect();
        throw new MemoryError(storeFailures[0]);
      }
      isTakenOver ||= failovers.strike();
      if (isTakenOver) throw new MemoryError(storeFailures[1]);
      const value = await effect();
      // It may have been committed, and lost again, before anybody learns of it.
      isTakenOver ||= failovers.strike();
      if (isTakenOver) throw new MemoryError(storeFailures[1]);
      return value;
    });

  const reading = <T>(name: string, effect: () => T): Promise<T> => {
    if (state === 'alive') judge.asks(pass);
    return call(name, 50, effect);
  };

  /** It is stopped, another process takes over, and what it was about to send leaves then. */
  const goesOnLate = ({ action }: Write): boolean => {
    const isStopped = world.choose(
      () => `the process is stopped, and its ${action} leaves later`,
      [false, true],
      dangers.crash / 4,
    );
    if (isStopped) {
      world.note(() => `  x the process is stopped before ${action}`);
      state = 'dead';
      reportDeath(died);
    }
    return isStopped;
  };
  /** Without its lease it sends nothing. */
  const write = (templateId: number, request: Write): Promise<ActualTemplate> =>
    call(request.action, 50, () => {
      if (!isTakenOver && goesOnLate(request)) {
        service.writeLate(templateId, request);
        return forever;
      }
      if (!isTakenOver) return service.write(templateId, request);
      const operation = request.action === 'add' ? 'add-dns-template-record' : 'update-dns-template-record';
      throw new HostingError(storeFailures[1], { operation, kind: 'not-sent' });
    });

  const ofProcess: Pick<Pass, 'service' | 'clock' | 'signal'> & { readonly memory: Memory } = {
    service: {
      listDnsTemplates: () => reading('list-dns-templates', () => kept.recognise(service.list(client.name))),
      addDnsTemplateRecord: (templateId, record) => write(templateId, { action: 'add', record }),
      updateDnsTemplateRecord: (templateId, change) => write(templateId, { action: 'update', change }),
      listDnsRecords: (subdomain) => reading('list-dns-records', () => service.listRecords(subdomain)),
    },
    memory: {
      template: (id) => onDisk('template', () => memory.template(id)),
      // To die there is to die before the next of them.
      templates: () => memory.templates(),
      journal: () => onDisk('journal', () => memory.journal()),
      suspensions: () => {
        const isUnread =
          maySuspend && world.choose(() => 'what is suspended cannot be read', [false, true], 1);
        if (!isUnread) return memory.suspensions();
        judge.suspended(pass);
        return Promise.reject(new MemoryError(storeFailures[0]));
      },
      begin: (entry) => {
        if (state !== 'dead') judge.decides(pass);
        return onDisk('begin', async () => {
          const begun = await memory.begin(entry);
          if (entry.action === 'add') judge.begun(pass, entry.templateId, entry.after);
          return begun;
        });
      },
      save: (changes) =>
        onDisk('save', async () => {
          await memory.save(changes);
          for (const { outcome } of changes.history) world.note(() => `  . history: ${outcome}`);
        }),
      ...(memory.revisions ? { revisions: () => memory.revisions!() } : {}),
      comparedByOthers: (ids) => memory.comparedByOthers(ids),
      compare: (ids) => memory.compare(ids),
    },
    clock: {
      now: () => clientTime(world, skew),
      uptime: () => ({ boot: 'sim', at: Math.round(world.time) }),
      sleep: (milliseconds, signal) =>
        call('sleep', 0, () => {
          if (!signal.aborted) world.advance(milliseconds);
        }),
    },
    signal: stop.signal,
  };
  return {
    ...ofProcess,
    /** Resolves when the process has died. Nothing of it continues, not even a `catch` or `finally`. */
    death,
    /** After the pass: any further call was left running. */
    end: () => {
      if (state === 'alive') state = 'ended';
    },
  };
};

export const clientTime = ({ time }: World, skew: number): number => Math.round(epoch + time + skew);

const epoch = Date.UTC(2026, 10, 20);
