import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Clock } from '../apply/context.ts';
import { createTemplateLoader } from '../desired/load.ts';
import { revisionOf } from '../desired/revision.ts';
import { messageOf, UserError } from '../errors.ts';
import { connectHosting, type HostingService } from '../hosting/service.ts';
import type { DesiredState } from '../model/template.ts';
import { reconcile, type Pass } from '../reconcile.ts';
import type { PassResult } from '../result.ts';
import type { ClientSettings } from '../settings/client.ts';
import { DamagedMemoryError, moveAside } from '../state/database.ts';
import { acquireLock } from '../state/lock.ts';
import { noMemories, type Memory, type MemoryReader } from '../state/memory.ts';
import { openMemory } from '../state/sqlite.ts';

/** What differs from pass to pass. */
export type PassRequest = Pick<Pass, 'run' | 'trigger' | 'templates' | 'signal' | 'onChange'> &
  Partial<Pick<Pass, 'ignoreSubdomains' | 'force' | 'retry' | 'acceptLoss' | 'approve'>> & {
    readonly dryRun: boolean;
    /** Milliseconds to wait for another process that writes for this client. */
    readonly lockTimeout: number;
    readonly onWait?: (holder: string) => void;
    /** Told when nothing is waited for any more, and the pass begins. */
    readonly onStart?: () => void;
    /** Given what was read of the files, before anything else is done; gives the part that the pass is about. */
    readonly onDesired?: (desired: DesiredState) => DesiredState;
  };

/** One client of the service with all that its passes need, wired together. */
export interface Client {
  readonly settings: ClientSettings;
  readonly service: HostingService;
  /** Files, service and memory held against each other once. */
  pass(request: PassRequest): Promise<PassResult>;
  load(): Promise<DesiredState>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly settings: ClientSettings;
  readonly strict: boolean;
  /** The embedded service answers truly at once, and what is remembered of it is kept apart. */
  readonly isSandbox: boolean;
  /** Told what a person should know that is no part of a report. */
  readonly warn: (message: string) => void;
  readonly onRequest?: Parameters<typeof connectHosting>[0]['onRequest'];
}

export const openClient = ({ settings, strict, isSandbox, warn, onRequest }: ClientOptions): Client => {
  let tokens = settings.tokens.read();
  const loader = createTemplateLoader();
  const service = connectHosting({
    ...settings,
    tokens: () => tokens,
    ...(onRequest ? { onRequest } : {}),
  });
  const load = (): Promise<DesiredState> =>
    loader.load({
      paths: settings.templates,
      defaults: settings,
      variables: {
        override: settings.vars.override,
        defaults: { ...settings.vars.config, ...settings.vars.client },
      },
      strict,
    });
  const place = (): MemoryPlace => memoryPlace(settings, tokens.clientToken, isSandbox);

  return {
    settings,
    service,
    load,
    pass: async (request) => {
      tokens = settings.tokens.read();
      const pass = passOf(request, settings, service, isSandbox);
      const begin = async (memory: MemoryReader, writer: Memory | null): Promise<PassResult> => {
        request.onStart?.();
        const described = await load();
        const part = request.onDesired?.(described) ?? described;
        return reconcile(part, { ...pass, described, memory, writer });
      };
      if (request.dryRun) {
        return withReader(place(), warn, (memory) => begin(memory, null));
      }
      const { lockTimeout, signal, onWait = () => undefined } = request;
      return withWriter(place(), { timeout: lockTimeout, signal, onWait }, warn, (memory) =>
        begin(memory, memory),
      );
    },
    close: () => service.close(),
  };
};

const passOf = (
  request: PassRequest,
  settings: ClientSettings,
  service: HostingService,
  isSandbox: boolean,
): Omit<Pass, 'memory' | 'writer'> => ({
  ignoreSubdomains: false,
  force: false,
  retry: false,
  acceptLoss: false,
  ...request,
  client: settings.name,
  service,
  clock: systemClock,
  revisionOf: perFolder(revisionOf),
  settle: isSandbox ? 0 : settings.settle,
  unknownPause: settings.unknownPause,
  subdomainGrace: settings.subdomainGrace,
  maxAddsPerPass: settings.limits.maxAddsPerPass,
  concurrency: settings.concurrency,
});

/** Files of one folder are of one checkout. */
const perFolder = (
  find: (file: string) => Promise<string | null>,
): ((file: string) => Promise<string | null>) => {
  const known = new Map<string, Promise<string | null>>();
  return (file) => {
    const folder = path.dirname(file);
    const found = known.get(folder) ?? find(file);
    known.set(folder, found);
    return found;
  };
};

const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (milliseconds, signal) => {
    await setTimeout(milliseconds, undefined, { signal }).catch(() => undefined);
  },
};

interface MemoryPlace {
  readonly file: string;
  readonly lock: string;
  /** Tells clients apart; of the token only a digest is kept. */
  readonly scope: string;
  /** The embedded service begins with nothing to remember, and nobody need hear of it. */
  readonly isSandbox: boolean;
}

export const memoryPlace = (
  { stateDir, baseUrl, name }: ClientSettings,
  clientToken: string,
  isSandbox: boolean,
): MemoryPlace => {
  const identity = isSandbox ? `sandbox ${name}` : `${baseUrl} ${clientToken}`;
  const scope = createHash('sha256').update(identity).digest('hex').slice(0, 32);
  return {
    file: path.join(stateDir, isSandbox ? 'sandbox-memory.db' : 'memory.db'),
    lock: path.join(stateDir, `lock-${scope}.db`),
    scope,
    isSandbox,
  };
};

/** Planning goes on without memory where there is none, or none that can be read. */
const withReader = async <T>(
  { file, scope, isSandbox }: MemoryPlace,
  warn: (message: string) => void,
  task: (memory: MemoryReader) => Promise<T>,
): Promise<T> => {
  if (!existsSync(file)) {
    if (!isSandbox) warn(`planned without memory, so causes are unknown: there is no ${file} yet`);
    return task(noMemories);
  }
  let memory: Memory;
  try {
    memory = openMemory(file, scope);
  } catch (error) {
    warn(`planned without memory, so causes are unknown: ${messageOf(error)}`);
    return task(noMemories);
  }
  try {
    return await task(memory);
  } finally {
    await memory.close();
  }
};

const withWriter = async <T>(
  { file, lock: lockFile, scope, isSandbox }: MemoryPlace,
  waiting: { timeout: number; signal: AbortSignal; onWait: (holder: string) => void },
  warn: (message: string) => void,
  task: (memory: Memory) => Promise<T>,
): Promise<T> => {
  const lock = await acquireLock({ file: lockFile, ...waiting }).catch((error: unknown) => {
    throw error instanceof UserError ? error : unusable(lockFile, error);
  });
  try {
    const memory = openOrBegin(file, scope, warn);
    try {
      if (!isSandbox && (await memory.templates()).length === 0) warn(startsWithout(file));
      return await task(memory);
    } finally {
      await memory.close();
    }
  } finally {
    lock.release();
  }
};

/** A damaged database is kept for whoever wants to look at it; a new one fills again by reading. */
const openOrBegin = (file: string, scope: string, warn: (message: string) => void): Memory => {
  try {
    return openMemory(file, scope);
  } catch (error) {
    if (!(error instanceof DamagedMemoryError)) throw error;
    const aside = moveAside(file);
    warn(
      `${error.message}: it is ${aside} now, and a new one is begun; history, causes and writes of unknown outcome are forgotten`,
    );
    return openMemory(file, scope);
  }
};

const startsWithout = (file: string): string =>
  `starts without memory, so causes are unknown and adds wait for a second reading: nothing is remembered of this client in ${file} yet`;

const unusable = (file: string, error: unknown): UserError =>
  new UserError(
    `the state directory cannot be used, and nothing is written to the service without it: ${path.dirname(file)}: ${messageOf(error)}; set --state-dir to a directory that can be written`,
    { cause: error },
  );
