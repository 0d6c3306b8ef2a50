import path from 'node:path';
import type { ScanResult } from '../desired/scan.ts';
import { createTemplateLoader } from '../desired/load.ts';
import { problemsOf } from '../desired/problems-of.ts';
import { createRevisions } from '../desired/revision.ts';
import { createUncommitted } from '../desired/uncommitted.ts';
import { UserError } from '../errors.ts';
import { connectHosting, type HostingService } from '../hosting/service.ts';
import type { DesiredState } from '../model/template.ts';
import { emptyCache } from '../reconcile/cache.ts';
import { reconcile, type Pass } from '../reconcile/pass.ts';
import type { PassResult } from '../result.ts';
import { redactor } from '../secrets.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { Listing } from '../state/identify.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { Say } from '../state/memory-keeper.ts';
import { memoryPlace, type MemoryPlace } from '../state/memory-place.ts';
import type { Memory, MemoryReader } from '../state/memory.ts';
import { fileStore, type StateStore } from '../state/store.ts';
import { withoutSecrets } from '../state/without-secrets.ts';
import { askNameServers, type AnswersRequest } from './client-answers.ts';
import { withObservedCauses } from './observed-causes.ts';
import { systemClock } from './system-clock.ts';

/** What differs from pass to pass. */
export type PassRequest = Pick<Pass, 'run' | 'trigger' | 'templates' | 'signal' | 'onChange'> &
  Partial<Pick<Pass, 'ignoreSubdomains' | 'force' | 'retry' | 'acceptLoss' | 'isRehearsal' | 'approve'>> & {
    readonly dryRun: boolean;
    /** Milliseconds to wait for another process that writes for this client. */
    readonly lockTimeout: number;
    readonly onWait?: (holder: string) => void;
    /** Told that for so many milliseconds nothing is done, and why. */
    readonly onPause?: (milliseconds: number, why: string) => void;
    /** Writes nothing to the service, whatever the files say, and remembers what it saw. */
    readonly onlyRemembers?: boolean;
    /** Called when the lock is held and the pass begins. */
    readonly onStart?: () => void;
    /** Called with the loaded files before anything else; returns the part that the pass shall compare. */
    readonly onDesired?: (desired: DesiredState) => DesiredState;
  };

/** One client of the service with all that its passes need, wired together. */
export interface Client {
  readonly settings: ClientSettings;
  readonly service: HostingService;
  /** Files, service and memory held against each other once. */
  pass(request: PassRequest): Promise<PassResult>;
  load(): Promise<DesiredState>;
  /** What the name servers of its subdomains answer. No pass waits for it, and it has a connection of its own. */
  askNameServers(request: AnswersRequest): Promise<KnownAnswers>;
  /** Looks which template files there are, for whoever watches them. */
  readonly scan: () => Promise<ScanResult>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly settings: ClientSettings;
  readonly strict: boolean;
  /** Having no template files is not an error. */
  readonly allowEmpty?: boolean;
  /** Names of the clients that are configured beside it. */
  readonly others?: readonly string[];
  /** Where what is remembered lies; without it, in the state directory. */
  readonly store?: StateStore;
  /** The embedded service answers truly at once, and what is remembered of it is kept apart. */
  readonly isSandbox: boolean;
  /** The only name servers that are asked, whatever settings and files say. */
  readonly nameservers?: readonly string[] | undefined;
  /** Told what a person should know that is no part of a report. */
  readonly warn: (message: string) => void;
  readonly onRequest?: Parameters<typeof connectHosting>[0]['onRequest'];
}

export const openClient = ({
  settings,
  strict,
  allowEmpty = false,
  others = [],
  store = fileStore,
  isSandbox,
  nameservers,
  warn,
  onRequest,
}: ClientOptions): Client => {
  let tokens = settings.tokens.read();
  const loader = createTemplateLoader();
  const keeper = store.keeper(warn);
  const observer = fileStore.keeper(() => undefined);
  const cache = emptyCache();
  const isUncommitted = createUncommitted();
  let onPause: NonNullable<PassRequest['onPause']> = () => undefined;
  let checkLock = (): void => undefined;
  const connection = {
    ...settings,
    tokens: () => tokens,
    onPause: (milliseconds: number, why: string) => onPause(milliseconds, why),
    beforeWrite: () => checkLock(),
    ...(onRequest ? { onRequest } : {}),
  };
  const service = connectHosting(connection);
  let latest: DesiredState | null = null;
  const load = (signal?: AbortSignal): Promise<DesiredState> => {
    const { templates: paths, vars } = settings;
    const variables = { override: vars.override, defaults: { ...vars.config, ...vars.client } };
    return loader.load({ paths, defaults: settings, variables, strict, allowEmpty }, signal);
  };
  const list = (): Listing => service.listDnsTemplates();
  const place = (): MemoryPlace => memoryPlace(settings, tokens.clientToken, isSandbox, others);

  /** A daemon that only looks remembers what it saw, apart from what passes that write go by: so it can tell causes. */
  const observe = async (
    result: PassResult,
    listing: Listing,
    pass: ReturnType<typeof passOf>,
  ): Promise<PassResult> => {
    const apart = { ...settings, stateDir: observedBelow(settings.stateDir) };
    const where = memoryPlace(apart, tokens.clientToken, isSandbox, others);
    const use = {
      timeout: 0,
      signal: pass.signal,
      onWait: () => undefined,
      mayBeginAnew: true,
      unknownPause: 0,
    };
    try {
      const observed = await observer.write(
        where,
        use,
        () => listing,
        async (memory) => {
          const own = withoutSecrets(memory, redactor([tokens.userToken, tokens.clientToken]));
          return reconcile(withoutWrites(latest ?? (await load())), {
            ...pass,
            startedAt: systemClock.now(),
            settle: 0,
            ignoreSubdomains: true,
            onChange: () => undefined,
            listing,
            memory: own,
            writer: own,
            warn: () => undefined,
          });
        },
      );
      return withObservedCauses(result, observed);
    } catch (error) {
      // Without that memory it shows what it did before: causes that nobody knows.
      if (error instanceof UserError) return result;
      throw error;
    }
  };

  return {
    settings,
    service,
    load: () => load(),
    scan: () => loader.scan(settings.templates),
    askNameServers: async (request) => {
      const reader = connectHosting({ ...connection, concurrency: 1 });
      const facts = store.keeper(() => undefined);
      let closed: Promise<void> | null = null;
      const close = (): Promise<void> => (closed ??= reader.close());
      const stop = (): void => void close();
      request.signal.addEventListener('abort', stop);
      try {
        return await askNameServers(request, {
          settings,
          nameservers: nameservers ?? null,
          load: async () => latest ?? load(),
          listDnsRecords: (subdomain) => reader.listDnsRecords(subdomain),
          readFacts: () => facts.read(place(), notListed, (memory) => memory.templates()),
        });
      } finally {
        request.signal.removeEventListener('abort', stop);
        await Promise.all([close(), facts.close()]);
      }
    },
    pass: async (request) => {
      tokens = settings.tokens.read();
      onPause = request.onPause ?? (() => undefined);
      const pass = passOf(request, settings, service, isSandbox);
      // A person's own pass looks at everything.
      const kept = request.trigger === 'command' ? {} : { cache };
      let listed: Listing | null = null;
      const begin = async (
        memory: MemoryReader,
        writer: Memory | null,
        say: Say,
        read: Listing | null,
        holdsAdds: string | null = null,
      ): Promise<PassResult> => {
        request.onStart?.();
        const startedAt = systemClock.now();
        // The service answers while files are looked at; where all have to be read first, its answer would be an old one.
        const listing = read ?? (loader.hasCache() ? list() : null);
        listing?.catch(() => undefined);
        const files = await load(request.signal);
        latest = files;
        const loaded = request.onlyRemembers ? withoutWrites(files) : files;
        const { templates: names } = request;
        const described = names.length === 0 ? loaded : { ...loaded, problems: problemsOf(loaded, names) };
        const part = request.onDesired?.(described) ?? described;
        listed = listing ?? list();
        listed.catch(() => undefined);
        const result = await reconcile(part, {
          ...pass,
          ...kept,
          startedAt,
          described,
          listing: listed,
          memory,
          writer,
          warn: say,
          holdsAdds,
        });
        return withUncommitted(result, isUncommitted);
      };
      if (request.dryRun) {
        const result = await keeper.read(place(), list, (memory, ...rest) => begin(memory, null, ...rest));
        const isDaemon = request.trigger !== 'command';
        return isDaemon && result.wasRead === true && listed ? observe(result, listed, pass) : result;
      }
      const { lockTimeout, signal, onWait = () => undefined } = request;
      const { unknownPause } = settings;
      const use = {
        timeout: lockTimeout,
        signal,
        onWait,
        mayBeginAnew: request.onlyRemembers === true,
        unknownPause,
      };
      return keeper.write(place(), use, list, (memory, say, read, held) => {
        checkLock = held.check;
        const own = withoutSecrets(memory, redactor([tokens.userToken, tokens.clientToken]));
        return begin(own, own, say, read, held.holdsAdds);
      });
    },
    close: async () => {
      await service.close();
      await keeper.close();
      await observer.close();
    },
  };
};

/** Where a daemon that only looks keeps what it saw. */
export const observedBelow = (stateDir: string): string => path.join(stateDir, 'observed');

const withoutWrites = (desired: DesiredState): DesiredState => ({
  ...desired,
  templates: desired.templates.map((template) => ({ ...template, mode: 'report' })),
});

/** Says of which files the commit is not the whole truth. What is as it is said stays the very same. */
const withUncommitted = (result: PassResult, isUncommitted: (file: string) => boolean): PassResult => {
  const files = new Set(
    result.templates.flatMap(({ file, revision }) =>
      revision !== null && isUncommitted(file) ? [file] : [],
    ),
  );
  if (files.size === 0) return result;
  const templates = result.templates.map((one) =>
    files.has(one.file) ? ({ ...one, uncommitted: true } as const) : one,
  );
  return { ...result, templates };
};

/** Which client it is takes a pass to find out, which reads the service's templates for that. */
const notListed = (): Listing => Promise.reject(new Error('not listed'));

const passOf = (
  request: PassRequest,
  settings: ClientSettings,
  service: HostingService,
  isSandbox: boolean,
): Omit<Pass, 'startedAt' | 'listing' | 'memory' | 'writer' | 'warn'> => ({
  ignoreSubdomains: false,
  force: false,
  retry: false,
  acceptLoss: false,
  ...request,
  client: settings.name,
  service,
  clock: {
    ...systemClock,
    sleep: (milliseconds, signal) => {
      request.onPause?.(milliseconds, 'then the service is read once more');
      return systemClock.sleep(milliseconds, signal);
    },
  },
  revisionOf: createRevisions(),
  settle: isSandbox ? 0 : settings.settle,
  unknownPause: settings.unknownPause,
  subdomainGrace: settings.subdomainGrace,
  maxAddsPerPass: settings.limits.maxAddsPerPass,
  concurrency: settings.concurrency,
});
