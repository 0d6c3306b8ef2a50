import { createHash } from 'node:crypto';
import type { ClientFiles } from '../daemon/fleet.ts';
import type { Look } from '../source/watch.ts';
import { problemsOfTemplates } from './match-templates.ts';
import type { Tokens } from '../hosting/call.ts';
import {
  connectHosting,
  type HostingOptions,
  type HostingService,
  type RequestTrace,
} from '../hosting/service.ts';
import type { Clock } from '../lib/clock.ts';
import { canonicalHost } from '../model/host.ts';
import type { SavedAt } from '../model/saved-at.ts';
import type { ActualTemplate, DesiredState } from '../model/template.ts';
import { memoryOfBase } from '../reconcile/base.ts';
import { emptyCache } from '../reconcile/cache.ts';
import { reconcile, type Pass } from '../reconcile/pass.ts';
import { longestTime } from '../reconcile/times.ts';
import type { PassResult, UnmanagedTemplate } from '../result.ts';
import { redactor } from '../secrets.ts';
import type { ClientSettings } from '../settings/client.ts';
import { unmanagedProblems } from '../report/view.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { StoreHandle, Suspending } from '../state/store-handle.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import { MemoryError, noMemories, type Instant, type Memory } from '../state/memory.ts';
import { fileStore, type StateStore } from '../state/store.ts';
import { withoutSecrets } from '../state/without-secrets.ts';
import { askNameServers, type AnswersRequest } from './client-answers.ts';
import { observedBelow, openObserver, withoutWrites, type Observer } from './observer.ts';
import { passOf, type PassRequest, type PreparedPass } from './pass-request.ts';
import { openTemplateSource, type TemplateSource } from '../source/template-source.ts';
import { loadOptionsOf, loadTemplates } from './load-templates.ts';
import { unmanagedIn, withInvalidFile } from './unmanaged.ts';
import { withCommits } from './with-commits.ts';

type Listing = Promise<readonly ActualTemplate[]>;

/** One client of the service with all that its passes need, wired together. */
export interface Client {
  readonly settings: ClientSettings;
  readonly service: HostingService;
  /** Compares files, service and state once, and writes what differs. */
  pass(request: PassRequest): Promise<PassResult>;
  load(): Promise<DesiredState>;
  /** What is suspended of it and its writes under way, without waiting for a pass that is running. */
  suspending<T>(task: (memory: Suspending) => Promise<T>): Promise<T>;
  /** Asks the name servers of its subdomains. Passes do not wait for it; it has a connection of its own. */
  askNameServers(request: AnswersRequest): Promise<KnownAnswers>;
  /** Whether the template files are other ones than the last pass took, for a watcher. */
  readonly look: () => Promise<Look>;
  /** By what other processes can tell whether they have the same files, and mean the same by them; null if they are absent. */
  readonly files: () => Promise<ClientFiles | null>;
  /** A digest of its base URL and token. */
  readonly token: () => string;
  /** The ids of the templates that its token lists, asked now. */
  readonly listTemplateIds: () => Promise<readonly number[]>;
  readonly savedAt: SavedAt;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly settings: ClientSettings;
  readonly clock: Clock;
  readonly strict: boolean;
  /** Having no template files is not an error. */
  readonly allowEmpty?: boolean;
  /** Whether template files that may be half uploaded wait; a command reads what is there. */
  readonly isDaemon?: boolean;
  /** The names of all configured clients, as they are now. */
  readonly names?: () => readonly string[];
  /** The store for the state; default: the state directory. */
  readonly store?: StateStore;
  /** The embedded service needs no `settle`, and its state is separate. */
  readonly isSandbox: boolean;
  /** Called with messages for people that are not part of a report. */
  readonly warn: (message: string, level?: 'info' | 'warn' | 'error') => void;
  /** `run`: the id of the pass; null for a round over name servers. */
  readonly onRequest?: (request: RequestTrace & { readonly run: string | null }) => void;
}

export const openClient = (options: ClientOptions): Client => new OpenClient(options);

class OpenClient implements Client {
  readonly settings: ClientSettings;
  readonly service: HostingService;
  readonly look: Client['look'];
  readonly savedAt: SavedAt;
  readonly #options: ClientOptions;
  readonly #store: StateStore;
  readonly #handle: StoreHandle;
  readonly #connection: HostingOptions;
  readonly #templates: TemplateSource;
  readonly #observer: Observer;
  readonly #cache = emptyCache();
  #tokens: Tokens;
  /** By the monotonic clock. */
  #listedAt = 0;
  /** The files that a pass has loaded last. */
  #latest: DesiredState | null = null;
  #unmanaged: readonly UnmanagedTemplate[] = [];
  /** Of the pass that makes requests. */
  #run: string | null = null;
  #onPause: NonNullable<PassRequest['onPause']> = () => undefined;
  #checkLock: () => void = () => undefined;

  constructor(options: ClientOptions) {
    const { settings, clock, store = fileStore(clock), warn, onRequest } = options;
    this.#options = options;
    this.settings = settings;
    this.#tokens = settings.tokens.read();
    this.#store = store;
    this.#handle = store.handle(warn);
    this.#connection = {
      ...settings,
      clock,
      tokens: () => this.#tokens,
      onBackoff: (milliseconds, why) => this.#onPause(milliseconds, why),
      beforeWrite: () => this.#checkLock(),
      ...(onRequest ? { onRequest: (request) => onRequest({ run: this.#run, ...request }) } : {}),
    };
    this.service = connectHosting(this.#connection);
    this.savedAt = storeLocation(settings, '', options.isSandbox);
    this.#templates = templatesOf(options);
    this.look = this.#templates.look;
    this.#observer = openObserver({
      clock,
      location: () => this.#locationIn(observedBelow(settings.stateDir)),
      redacted: (memory) => this.#redacted(memory),
    });
  }

  readonly files: Client['files'] = async () => {
    const files = await this.#templates.version();
    if (files === null) return null;
    const { mode, surplus, adopt, limits, vars } = this.settings;
    const { strict } = this.#options;
    const decisive = JSON.stringify([files.digest, mode, surplus, adopt, limits, vars, strict]);
    return {
      version: createHash('sha256').update(decisive).digest('hex').slice(0, 32),
      commit: files.commit,
    };
  };

  readonly token: Client['token'] = () => {
    const { clientToken } = this.settings.tokens.read();
    return storeLocation(this.settings, clientToken, this.#options.isSandbox).token;
  };

  readonly listTemplateIds: Client['listTemplateIds'] = async () => {
    this.#tokens = this.settings.tokens.read();
    const own = (await this.service.listDnsTemplates()).filter((one) => !one.publiclyAvailable);
    return own.map(({ id }) => id);
  };

  load(): Promise<DesiredState> {
    return this.#templates.load();
  }

  async pass(request: PassRequest): Promise<PassResult> {
    this.#tokens = this.settings.tokens.read();
    this.#run = request.run;
    this.#onPause = request.onPause ?? (() => undefined);
    const revisionOf = this.#templates.revisions();
    const { clock, isSandbox } = this.#options;
    const pass = passOf(request, this.settings, this.service, clock, isSandbox, revisionOf);
    return request.dryRun ? this.#dryRun(request, pass) : this.#write(request, pass);
  }

  suspending<T>(task: (memory: Suspending) => Promise<T>): Promise<T> {
    return this.#handle.suspending(this.#location(), task);
  }

  async askNameServers(request: AnswersRequest): Promise<KnownAnswers> {
    const { clock, isSandbox, onRequest } = this.#options;
    const reader = connectHosting({
      ...this.#connection,
      concurrency: 1,
      ...(onRequest ? { onRequest: (trace) => onRequest({ run: null, ...trace }) } : {}),
    });
    let closed: Promise<void> | null = null;
    const close = (): Promise<void> => (closed ??= reader.close());
    const stop = (): void => void close();
    request.signal.addEventListener('abort', stop);
    try {
      return await askNameServers(request, {
        settings: this.settings,
        now: clock.now,
        isSandbox,
        load: async () => this.#latest ?? this.load(),
        listDnsRecords: (subdomain) => reader.listDnsRecords(subdomain),
        readRows: () =>
          this.#store.read(this.#location(), async (memory) => (await memory?.templates()) ?? []),
      });
    } finally {
      request.signal.removeEventListener('abort', stop);
      await close();
    }
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.#observer.close();
  }

  async #dryRun(request: PassRequest, pass: PreparedPass): Promise<PassResult> {
    if (request.base !== undefined) {
      const state = { memory: noMemories, writer: null, warn: () => undefined };
      return (await this.#compare(request, pass, state)).result;
    }
    const { result, listing } = await this.#handle.read(this.#location(), (memory, warn) =>
      this.#compare(request, pass, { memory, writer: null, warn }),
    );
    const isObserved = request.trigger !== 'command' && result.wasRead === true;
    return isObserved ? this.#observer.observe(result, this.#latest!, listing, pass) : result;
  }

  async #write(request: PassRequest, pass: PreparedPass): Promise<PassResult> {
    const { lockTimeout, signal, onlyRemembers = false, onWait = () => undefined } = request;
    const lostPause = longestTime(this.settings);
    const use = { timeout: lockTimeout, signal, onWait, mayBeginAnew: onlyRemembers, lostPause };
    const { result } = await this.#handle.write(
      this.#location(),
      use,
      (saved, warn, { check, holdsAdds, now = () => pass.clock.now() }) => {
        this.#checkLock = check;
        const memory = this.#redacted(saved);
        const timed = { ...pass, clock: { ...pass.clock, now } };
        return this.#compare(request, timed, { memory, writer: memory, warn, holdsAdds });
      },
    );
    return result;
  }

  /** One pass with a state that is open, and the listing that it began with. */
  async #compare(
    request: PassRequest,
    pass: PreparedPass,
    state: Pick<Pass, 'memory' | 'writer' | 'warn' | 'holdsAdds'>,
  ): Promise<{ readonly result: PassResult; readonly listing: Listing }> {
    request.onStart?.();
    const startedAt = pass.clock.now();
    // Lists the service while changed files are read. A first load takes long, so the listing would be old.
    const early = this.#templates.hasCache() ? this.#list() : null;
    early?.catch(() => undefined);
    const files = await this.#templates.load(request.signal);
    this.#latest = files;
    const loaded = withOnly(request.subdomain, request.onlyRemembers ? withoutWrites(files) : files);
    const { templates: names } = request;
    const described =
      names.length === 0 ? loaded : { ...loaded, problems: problemsOfTemplates(loaded, names) };
    request.onDesired?.(described);
    const listing = early ?? this.#list();
    listing.catch(() => undefined);
    // A command compares everything again.
    const cached = request.trigger === 'command' ? {} : { cache: this.#cache };
    const askedAt = this.#askedAt(pass.clock);
    const memory =
      request.base === undefined ? state.memory : memoryOfBase(await this.#loadBase(request.base), listing);
    const given = {
      ...pass,
      ...cached,
      ...state,
      memory,
      startedAt,
      listing,
      askedAt,
    };
    const result = await reconcile(described, given);
    const marked = withCommits(result, this.settings.commitUrl);
    return { result: await this.#withUnmanaged(marked, request, listing, { memory }), listing };
  }

  /** What is wrong there is not of this pass. */
  #loadBase(filesOf: NonNullable<PassRequest['base']>): Promise<DesiredState> {
    return loadTemplates({ ...this.settings, templates: filesOf(this.settings) }, { allowEmpty: true });
  }

  async #withUnmanaged(
    result: PassResult,
    { templates, trigger }: PassRequest,
    listing: Listing,
    { memory }: Pick<Pass, 'memory'>,
  ): Promise<PassResult> {
    if (templates.length > 0 || this.#latest === null || result.wasRead !== true) return result;
    const actual = await listing;
    const found = await unmanagedIn({
      actual,
      described: this.#latest,
      before: this.#unmanaged,
      // The report counts for more, where the state was lost during the pass.
      managed: async () =>
        new Set((await memory.templates().catch(noneIfLost)).map(({ templateId }) => templateId)),
    });
    const { name: client } = this.settings;
    if (found !== this.#unmanaged) this.#unmanaged = found.map((one) => ({ client, ...one }));
    // A daemon would fail for ever, which would hide what else fails.
    const isError = this.#options.strict && trigger === 'command';
    const problems = isError ? unmanagedProblems(this.#unmanaged) : [];
    return {
      ...result,
      unmanaged: this.#unmanaged,
      withInvalidFile: withInvalidFile(actual, this.#latest),
      problems: [...result.problems, ...problems],
    };
  }

  readonly #list = (): Listing => {
    this.#listedAt = this.#options.clock.uptime().at;
    return this.service.listDnsTemplates();
  };

  /** When the listing of this pass was asked for. */
  #askedAt(clock: Pass['clock']): Instant {
    const { boot, at } = clock.uptime();
    return { now: clock.now() - (at - this.#listedAt), uptime: { boot, at: this.#listedAt } };
  }

  #location(): StoreLocation {
    return this.#locationIn(this.settings.stateDir);
  }

  #locationIn(stateDir: string): StoreLocation {
    const { isSandbox, names = () => [] } = this.#options;
    return storeLocation({ ...this.settings, stateDir }, this.#tokens.clientToken, isSandbox, names());
  }

  #redacted(memory: Memory): Memory {
    return withoutSecrets(memory, redactor([this.#tokens.userToken, this.#tokens.clientToken]));
  }
}

const templatesOf = ({
  settings,
  strict,
  allowEmpty = false,
  clock,
  isDaemon = false,
  warn,
}: ClientOptions): TemplateSource =>
  openTemplateSource(loadOptionsOf(settings, { strict, allowEmpty }), {
    waits: isDaemon,
    clock,
    onWait: (file) =>
      warn(`${file} may still be uploading: it is read once it is whole, or unchanged for a while`, 'info'),
  });

const noneIfLost = (error: unknown): never[] => {
  if (error instanceof MemoryError) return [];
  throw error;
};

/** Templates with no other subdomain than this one. */
const withOnly = (subdomain: string | undefined, files: DesiredState): DesiredState => {
  if (subdomain === undefined) return files;
  const name = canonicalHost(subdomain);
  const templates = files.templates.map((one) => ({
    ...one,
    subdomains: one.subdomains.filter((own) => canonicalHost(own) === name),
  }));
  return { ...files, templates };
};
