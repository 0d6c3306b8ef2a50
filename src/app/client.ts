import { createHash } from 'node:crypto';
import { UserError } from '../errors.ts';
import { connectHosting, type HostingService, type RequestTrace, type Tokens } from '../hosting/service.ts';
import type { Clock } from '../lib/clock.ts';
import type { DesiredState } from '../model/template.ts';
import { memoryOfBase } from '../reconcile/base.ts';
import { emptyCache } from '../reconcile/cache.ts';
import { reconcile, type Pass } from '../reconcile/pass.ts';
import { longestTime } from '../reconcile/times.ts';
import type { PassResult } from '../result.ts';
import { redactor } from '../secrets.ts';
import type { ClientSettings } from '../settings/client.ts';
import { openTemplateSource } from '../source/template-source.ts';
import { MemoryError, noMemories, type History, type Memory, type MemoryReader } from '../state/memory.ts';
import { storeHandle, type StateStore, type Suspending } from '../state/store-handle.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import { withoutSecrets } from '../state/without-secrets.ts';
import { askNameServers, type AnswersRequest } from './client-answers.ts';
import { loadOptionsOf, loadTemplates, problemsOfTemplates } from './template-files.ts';
import { withUnmanaged } from './unmanaged.ts';

export type Client = ReturnType<typeof openClient>;

/** The request for one pass. */
export type PassRequest = Pick<Pass, 'run' | 'trigger' | 'signal' | 'onChange'> &
  Partial<
    Pick<
      Pass,
      'templates' | 'ignoreSubdomains' | 'force' | 'retry' | 'acceptLoss' | 'only' | 'isRehearsal' | 'approve'
    >
  > & {
    /** As the settings say, unless the request does. */
    readonly dryRun?: boolean;
    /** Milliseconds to wait for the lock of another process. */
    readonly lockTimeout?: number;
    readonly onWait?: (holder: string) => void;
    /** Called before each wait, with its milliseconds and the reason. */
    readonly onPause?: (milliseconds: number, why: string) => void;
    /** Writes nothing to the service in any mode, but saves what it saw. */
    readonly onlyRemembers?: boolean;
    /** For a dry run without saved state: earlier template files of a client, which stand for it. */
    readonly base?: (client: ClientSettings) => readonly string[];
    /** Called when the lock is held and the pass begins. */
    readonly onStart?: () => void;
    /** Called with the loaded files before anything else. */
    readonly onDesired?: (desired: DesiredState) => void;
  };

export interface ClientOptions {
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly strict: boolean;
  /** Having no template files is not an error. */
  readonly allowEmpty: boolean;
  /** Whether template files that may be half uploaded wait; a command reads what is there. */
  readonly isDaemon: boolean;
  /** Called with the octets of all template files, before the first one is read. */
  readonly onFound?: (octets: number) => void;
  /** The names of all configured clients, as they are now. */
  readonly names: () => readonly string[];
  readonly store: StateStore;
  /** The embedded service needs no `settle`, and its state is separate. */
  readonly isSandbox: boolean;
  /** Called with messages for people that are not part of a report. */
  readonly warn: (message: string, level?: 'info' | 'warn' | 'error') => void;
  /** `run`: the id of the pass; null for a round over name servers. */
  readonly onRequest: (request: RequestTrace & { readonly run: string | null }) => void;
}

/** One client of the service with all that its passes need, wired together. */
export const openClient = (options: ClientOptions) => {
  const { settings, clock, strict, store, isSandbox, warn } = options;
  let tokens: Tokens = settings.tokens.read();
  /** The files that a pass has loaded last. */
  let latest: DesiredState | null = null;
  /** The pass that makes requests. */
  let current: PassRequest | null = null;
  let checkLock = unlocked;
  const cache = emptyCache();
  const handle = storeHandle(store, warn);

  const connect = (runOf: () => string | null, concurrency = settings.concurrency): HostingService =>
    connectHosting({
      ...settings,
      concurrency,
      clock,
      tokens: () => tokens,
      onBackoff: (milliseconds, why) => current?.onPause?.(milliseconds, why),
      beforeWrite: () => checkLock(),
      onRequest: (request) => options.onRequest({ run: runOf(), ...request }),
    });
  const service = connect(() => current?.run ?? null);
  const source = openTemplateSource(loadOptionsOf(settings, options), {
    waits: options.isDaemon,
    clock,
    ...(options.onFound ? { onFound: options.onFound } : {}),
    onWait: (file) =>
      warn(`${file} may still be uploading: it is read once it is whole, or unchanged for a while`, 'info'),
  });
  const locationOf = (token: string): StoreLocation =>
    storeLocation(settings, token, isSandbox, options.names());
  const location = (): StoreLocation => locationOf(tokens.clientToken);
  const saved = <T>(task: (memory: (MemoryReader & History) | null) => Promise<T>): Promise<T> =>
    store.read(locationOf(settings.tokens.read().clientToken), task);

  /** What a pass needs, except what is only known when it starts. */
  const prepared = (request: PassRequest) => ({
    templates: [],
    ignoreSubdomains: false,
    force: false,
    retry: false,
    acceptLoss: false,
    ...request,
    dryRun: request.dryRun ?? settings.dryRun,
    client: settings.name,
    service,
    clock: {
      now: () => clock.now(),
      uptime: () => clock.uptime(),
      sleep: (milliseconds: number, signal: AbortSignal) => {
        request.onPause?.(milliseconds, 'then the service is read once more');
        return clock.sleep(milliseconds, signal);
      },
    },
    revisionOf: source.revisions(),
    peek: source.peek,
    settle: isSandbox ? 0 : settings.settle,
    unknownPause: settings.unknownPause,
    subdomainGrace: settings.subdomainGrace,
    maxAddsPerPass: settings.limits.maxAddsPerPass,
    concurrency: settings.concurrency,
    // A command compares everything again.
    ...(request.trigger === 'command' ? {} : { cache }),
  });

  /** One pass with a state that is open. */
  const compare = async (
    request: PassRequest,
    pass: ReturnType<typeof prepared>,
    state: Pick<Pass, 'memory' | 'writer' | 'warn' | 'holdsAdds'>,
  ): Promise<PassResult> => {
    request.onStart?.();
    const startedAt = pass.clock.now();
    const files = await source.load(request.signal);
    latest = files;
    const described = partOf(files, request);
    request.onDesired?.(described);
    const askedAt = { now: pass.clock.now(), uptime: clock.uptime() };
    const listing = service.listDnsTemplates();
    listing.catch(() => undefined);
    const { base } = request;
    const earlier = base && (await loadBase({ ...settings, templates: base(settings) }, options));
    const memory = earlier ? memoryOfBase(earlier, listing) : state.memory;
    const desired = earlier
      ? { ...described, problems: [...described.problems, ...earlier.problems] }
      : described;
    const result = withCommits(
      await reconcile(desired, { ...pass, ...state, memory, startedAt, listing, askedAt }),
      settings.commitUrl,
    );
    if (pass.templates.length > 0 || result.wasRead !== true) return result;
    // A daemon would fail for ever, which would hide what else fails.
    const isError = strict && request.trigger === 'command';
    return withUnmanaged(result, { actual: await listing, files, memory, isError });
  };

  const dryRun = (request: PassRequest): Promise<PassResult> => {
    const pass = prepared(request);
    if (request.base !== undefined)
      return compare(request, pass, { memory: noMemories, writer: null, warn: () => undefined });
    return handle.read(location(), (memory, say) =>
      compare(request, pass, { memory, writer: null, warn: say }),
    );
  };

  const write = (request: PassRequest): Promise<PassResult> => {
    const { lockTimeout = 0, signal, onlyRemembers = false, onWait = () => undefined } = request;
    const lostPause = longestTime(settings);
    const use = { timeout: lockTimeout, signal, onWait, mayBeginAnew: onlyRemembers, lostPause };
    return handle.write(location(), use, async (held, say) => {
      const { check, holdsAdds, now = clock.now, mostLate = 0 } = held;
      checkLock = check;
      const memory = withoutOwnSecrets(held.memory);
      const pass = prepared(request);
      const unknownPause = pass.unknownPause + mostLate;
      const timed = { ...pass, unknownPause, clock: { ...pass.clock, now } };
      try {
        return await compare(request, timed, { memory, writer: memory, warn: say, holdsAdds });
      } finally {
        checkLock = unlocked;
      }
    });
  };

  const withoutOwnSecrets = (memory: Memory): Memory =>
    withoutSecrets(memory, redactor([tokens.userToken, tokens.clientToken]));

  return {
    settings,
    service,
    /** Where its state is. */
    savedAt: storeLocation(settings, '', isSandbox),
    load: (): Promise<DesiredState> => source.load(),
    /** Whether the template files are other ones than the last pass took. */
    look: source.look,
    /** By what other processes can tell whether they have the same files; null if they are absent. */
    files: async () => {
      const files = await source.version();
      if (files === null) return null;
      const { mode, surplus, adopt, limits, vars } = settings;
      const decisive = JSON.stringify([files.digest, mode, surplus, adopt, limits, vars, strict]);
      const version = createHash('sha256').update(decisive).digest('hex').slice(0, 32);
      return { version, commit: files.commit };
    },
    /** A digest of its base URL and token. */
    token: () => locationOf(settings.tokens.read().clientToken).token,
    /** The ids of the templates that its token lists, asked now. */
    listTemplateIds: async () => {
      tokens = settings.tokens.read();
      const own = (await service.listDnsTemplates()).filter((one) => !one.publiclyAvailable);
      return own.map(({ id }) => id);
    },
    /** Compares files, service and state once, and writes what differs. */
    pass: async (request: PassRequest) => {
      tokens = settings.tokens.read();
      current = request;
      try {
        return await ((request.dryRun ?? settings.dryRun) ? dryRun(request) : write(request));
      } finally {
        // There may be thousands of clients: what only a pass needs is not kept.
        if (current === request) current = null;
      }
    },
    /** What is saved of it; null if that is nothing yet. */
    saved,
    /** What is suspended of it and its writes under way, without waiting for a pass that is running. */
    suspending: async <T>(task: (memory: Suspending) => Promise<T>) =>
      task(await store.suspending(location(), warn)),
    /** Asks the name servers of its subdomains. Passes do not wait for it; it has a connection of its own. */
    askNameServers: async (request: AnswersRequest) => {
      const reader = connect(() => null, 1);
      const stop = (): void => void reader.close();
      request.signal.addEventListener('abort', stop);
      try {
        return await askNameServers(request, {
          settings,
          now: clock.now,
          isSandbox,
          load: async () => latest ?? source.load(),
          listDnsRecords: (subdomain) => reader.listDnsRecords(subdomain),
          readRows: () => saved(async (memory) => (await memory?.templates()) ?? []),
        });
      } finally {
        request.signal.removeEventListener('abort', stop);
        await reader.close();
      }
    },
    close: () => service.close(),
  };
};

const unlocked = (): void => {
  throw new MemoryError('nothing is written: no pass holds the lock');
};

/** What is wrong in the base branch fails no pass: the pull request may mend it. */
const loadBase = async (
  client: ClientSettings,
  { allowEmpty }: Pick<ClientOptions, 'allowEmpty'>,
): Promise<DesiredState> => {
  const state = await loadTemplates(client, { allowEmpty });
  if (state.problems.some(({ check }) => check === 'no-templates'))
    throw new UserError(
      `--base: no template files in ${client.templates.join(', ')}: name the directory with those of the base branch; --allow-empty if it has none`,
    );
  const problems = state.problems.flatMap((problem) => {
    if (problem.severity !== 'error') return [];
    const message = `in the base branch: ${problem.message}; so this plan does not know what was dropped here`;
    return { ...problem, severity: 'warning' as const, message };
  });
  return { ...state, problems };
};

/** What a pass is about of the files. */
const partOf = (
  files: DesiredState,
  { templates: names = [], onlyRemembers = false }: PassRequest,
): DesiredState => {
  if (names.length === 0 && !onlyRemembers) return files;
  const templates = onlyRemembers
    ? files.templates.map((one) => ({ ...one, mode: 'report' as const }))
    : files.templates;
  return { ...files, templates, problems: problemsOfTemplates(files, names) };
};

/** Adds the commits of its templates' files. `commitUrl`: with `{sha}` in place of an id. */
const withCommits = (result: PassResult, commitUrl: string | null): PassResult => {
  const revisions = new Set(result.templates.flatMap(({ revision }) => revision ?? []));
  if (commitUrl === null || revisions.size === 0) return result;
  const commits = [...revisions].map((revision) => ({
    revision,
    url: commitUrl.replace('{sha}', encodeURIComponent(revision)),
  }));
  return { ...result, commits };
};
