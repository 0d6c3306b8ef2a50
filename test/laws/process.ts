import type { Clock } from '../../src/lib/clock.ts';
import { emptyCache, type ResultCache } from '../../src/reconcile/cache.ts';
import type { RecordData } from '../../src/model/record.ts';
import type { DesiredState, ActualTemplate } from '../../src/model/template.ts';
import type { Pass } from '../../src/reconcile/pass.ts';
import { HostingError } from '../../src/hosting/errors.ts';
import { MemoryError, type Memory } from '../../src/state/memory.ts';
import type { Write } from './seen.ts';
import type { SimulatedService } from './service.ts';
import type { World } from './world.ts';

/** One process of the program: it may die at each of its calls, and then does nothing more. */
export interface Process {
  readonly service: Pass['service'];
  readonly memory: Memory;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Resolves when the process has died. Nothing of it continues, not even a `catch` or `finally`. */
  readonly death: Promise<typeof died>;
  /** After the pass: any further call was left running. */
  end(): void;
}

export const died = Symbol('died');

/** Why the state cannot be saved. */
export const storeFailures = ['the disk is full', 'PostgreSQL failed over'] as const;

export interface Dangers {
  /** Of each call, from 0 to 1. */
  readonly crash: number;
  readonly fullDisk: number;
  /** Whether what failed may be on disk nevertheless. */
  readonly mayBeCommitted?: boolean;
  /** Whether somebody may suspend what it writes. */
  readonly maySuspend?: boolean;
  /** Perhaps loses the last commits, and with them the lease. */
  readonly failOver: () => boolean;
  /** The call at which the program gets a signal to end; null if it gets none. */
  readonly stopAt: number | null;
  /** How far the process's clock is ahead of the true time. */
  readonly skew: number;
}

const diskFaults = ({ mayBeCommitted = false }: Dangers): readonly DiskFault[] =>
  mayBeCommitted ? [null, 'the disk is full', 'committed, and an error'] : [null, 'the disk is full'];

type DiskFault = null | 'the disk is full' | 'committed, and an error';

/** What a process keeps in memory from one pass to the next. */
export interface KeptBetweenPasses {
  readonly cache: ResultCache;
  /** The same objects for the same templates, and the same list of them, as long as the process lives. */
  readonly recognise: (templates: readonly ActualTemplate[]) => readonly ActualTemplate[];
  /** The same object if the files say the same as before. */
  readonly recogniseFiles: (desired: DesiredState) => DesiredState;
  /** It died. */
  forget(): void;
}

export const keptBetweenPasses = (): KeptBetweenPasses => {
  const cache = emptyCache();
  const seen = new Map<string, ActualTemplate>();
  let list: readonly ActualTemplate[] = [];
  let files: DesiredState | null = null;
  return {
    cache,
    recognise: (templates) => {
      const known = templates.map((template) => {
        const text = JSON.stringify(template);
        const same = seen.get(text) ?? template;
        seen.set(text, same);
        return same;
      });
      if (!areSame(known, list)) list = known;
      return list;
    },
    recogniseFiles: (desired) => {
      const isSame =
        files !== null &&
        areSame(files.templates, desired.templates) &&
        JSON.stringify(files.unusable) === JSON.stringify(desired.unusable) &&
        files.files === desired.files;
      if (!isSame) files = desired;
      return files ?? desired;
    },
    forget: () => {
      cache.byId.clear();
      seen.clear();
      list = [];
      files = null;
    },
  };
};

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((one, index) => one === others[index]);

export interface ProcessObserver {
  /** It is about to ask the service, or to send. */
  onAsk(): void;
  /** It is about to save what it is going to send. */
  onDecide(): void;
  /** It has saved what it is going to send. */
  onBegun(templateId: number, record: RecordData): void;
  /** It gets a signal to end. */
  onStop(): void;
  /** Somebody suspends the client. */
  onSuspend(): void;
  /** It cannot read what is suspended. */
  onUnread(): void;
  /** It goes on after its pass ended. */
  onStrayCall(name: string): void;
}

export const startProcess = (
  world: World,
  service: SimulatedService,
  client: string,
  memory: Memory,
  dangers: Dangers,
  kept: KeptBetweenPasses,
  observer: ProcessObserver,
): Process => {
  const { random } = world;
  const stop = new AbortController();
  let state: 'alive' | 'dead' | 'ended' = 'alive';
  let calls = 0;
  let isSuspended = false;
  const { maySuspend = false } = dangers;
  let reportDeath: (value: typeof died) => void = () => undefined;
  const death = new Promise<typeof died>((resolve) => {
    reportDeath = resolve;
  });
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
    if (state === 'ended') observer.onStrayCall(name);
    calls += 1;
    if (calls === dangers.stopAt) {
      world.note(() => '  . the program is told to end');
      observer.onStop();
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
    if (isSuspended) observer.onSuspend();
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
      isTakenOver ||= dangers.failOver();
      if (isTakenOver) throw new MemoryError(storeFailures[1]);
      const value = await effect();
      // It may have been committed, and lost again, before anybody learns of it.
      isTakenOver = dangers.failOver();
      if (isTakenOver) throw new MemoryError(storeFailures[1]);
      return value;
    });

  const reading = <T>(name: string, effect: () => T): Promise<T> => {
    if (state === 'alive') observer.onAsk();
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

  return {
    service: {
      listDnsTemplates: () => reading('list-dns-templates', () => kept.recognise(service.list(client))),
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
        observer.onUnread();
        return Promise.reject(new MemoryError(storeFailures[0]));
      },
      begin: (entry) => {
        if (state !== 'dead') observer.onDecide();
        return onDisk('begin', async () => {
          const begun = await memory.begin(entry);
          if (entry.action === 'add') observer.onBegun(entry.templateId, entry.after);
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
      now: () => clientTime(world, dangers.skew),
      uptime: () => ({ boot: 'sim', at: Math.round(world.time) }),
      sleep: (milliseconds, signal) =>
        call('sleep', 0, () => {
          if (!signal.aborted) world.advance(milliseconds);
        }),
    },
    signal: stop.signal,
    death,
    end: () => {
      if (state === 'alive') state = 'ended';
    },
  };
};

export const clientTime = ({ time }: World, skew: number): number => Math.round(epoch + time + skew);

const epoch = Date.UTC(2026, 10, 20);
