import type { ScanResult } from '../desired/scan.ts';
import { problemsOf } from '../desired/problems-of.ts';
import { connectHosting, type HostingService } from '../hosting/service.ts';
import type { Publication } from '../model/published.ts';
import type { DesiredState } from '../model/template.ts';
import { emptyCache } from '../reconcile/cache.ts';
import { reconcile } from '../reconcile/pass.ts';
import type { PassResult } from '../result.ts';
import { redactor } from '../secrets.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { Listing } from '../state/identify.ts';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { Say } from '../state/store-handle.ts';
import { storeLocation, type StoreLocation } from '../state/store-location.ts';
import type { Memory, MemoryReader } from '../state/memory.ts';
import type { SnapshotStore } from '../state/snapshots.ts';
import { fileStore, type StateStore } from '../state/store.ts';
import { withoutSecrets } from '../state/without-secrets.ts';
import { askNameServers, type AnswersRequest } from './client-answers.ts';
import { observedBelow, openObserver, withoutWrites } from './observer.ts';
import { passOf, type PassRequest } from './pass-request.ts';
import { systemClock } from './system-clock.ts';
import { ownTemplates, sharedTemplates } from '../source/template-source.ts';
import { withUncommitted } from './with-uncommitted.ts';

/** One client of the service with all that its passes need, wired together. */
export interface Client {
  readonly settings: ClientSettings;
  readonly service: HostingService;
  /** Compares files, service and state once, and writes what differs. */
  pass(request: PassRequest): Promise<PassResult>;
  load(): Promise<DesiredState>;
  /** Asks the name servers of its subdomains. Passes do not wait for it; it has a connection of its own. */
  askNameServers(request: AnswersRequest): Promise<KnownAnswers>;
  /** Lists the template files, for a watcher. */
  readonly scan: () => Promise<ScanResult>;
  /** Offers the template files of this machine to others; null where they are not shared. */
  readonly publish: () => Promise<Publication | null>;
  /** What its shared files are known by. */
  readonly sharedAs: () => string;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly settings: ClientSettings;
  readonly strict: boolean;
  /** Having no template files is not an error. */
  readonly allowEmpty?: boolean;
  /** The names of the other configured clients, as they are now. */
  readonly others?: () => readonly string[];
  /** The store for the state; default: the state directory. */
  readonly store?: StateStore;
  /** Where its template files are shared; null: they are those of this machine. */
  readonly shared?: { readonly snapshots: SnapshotStore; readonly patience: number } | null;
  /** The embedded service needs no `settle`, and its state is separate. */
  readonly isSandbox: boolean;
  /** The only name servers to ask; overrides settings and files. */
  readonly nameservers?: readonly string[] | undefined;
  /** Called with messages for people that are not part of a report. */
  readonly warn: (message: string) => void;
  readonly onRequest?: Parameters<typeof connectHosting>[0]['onRequest'];
}

export const openClient = ({
  settings,
  strict,
  allowEmpty = false,
  others = () => [],
  store = fileStore,
  shared = null,
  isSandbox,
  nameservers,
  warn,
  onRequest,
}: ClientOptions): Client => {
  let tokens = settings.tokens.read();
  const handle = store.handle(warn);
  const cache = emptyCache();
  let onPause: NonNullable<PassRequest['onPause']> = () => undefined;
  let checkLock = (): void => undefined;
  const connection = {
    ...settings,
    tokens: () => tokens,
    onBackoff: (milliseconds: number, why: string) => onPause(milliseconds, why),
    beforeWrite: () => checkLock(),
    ...(onRequest ? { onRequest } : {}),
  };
  const service = connectHosting(connection);
  let latest: DesiredState | null = null;
  const { override, config, client } = settings.vars;
  const options = {
    paths: settings.templates,
    defaults: settings,
    variables: { override, defaults: { ...config, ...client } },
    strict,
    allowEmpty,
  };
  const sharedAs = (): string => location().digest;
  const templates = shared
    ? sharedTemplates({ ...shared, load: options, client: sharedAs })
    : ownTemplates(options);
  const { load } = templates;
  const list = (): Listing => service.listDnsTemplates();
  const placeIn = (stateDir: string): StoreLocation =>
    storeLocation({ ...settings, stateDir }, tokens.clientToken, isSandbox, others());
  const location = (): StoreLocation => placeIn(settings.stateDir);
  const redacted = (memory: Memory): Memory =>
    withoutSecrets(memory, redactor([tokens.userToken, tokens.clientToken]));
  const observer = openObserver({ location: () => placeIn(observedBelow(settings.stateDir)), redacted });

  return {
    settings,
    service,
    load: () => load(),
    scan: templates.scan,
    publish: templates.publish,
    sharedAs,
    askNameServers: async (request) => {
      const reader = connectHosting({ ...connection, concurrency: 1 });
      const facts = store.handle(() => undefined);
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
          readFacts: () => facts.read(location(), notListed, (memory) => memory.templates()),
        });
      } finally {
        request.signal.removeEventListener('abort', stop);
        await Promise.all([close(), facts.close()]);
      }
    },
    pass: async (request) => {
      tokens = settings.tokens.read();
      onPause = request.onPause ?? (() => undefined);
      const pass = passOf(request, settings, service, isSandbox, templates.revisions());
      // A command compares everything again.
      const cached = request.trigger === 'command' ? {} : { cache };
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
        // Lists the service while changed files are read. A first load takes long, so the listing would be old.
        const listing = read ?? (templates.hasCache() ? list() : null);
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
          ...cached,
          startedAt,
          described,
          listing: listed,
          memory,
          writer,
          warn: say,
          holdsAdds,
        });
        return withUncommitted(result, templates.isUncommitted);
      };
      if (request.dryRun) {
        const result = await handle.read(location(), list, (memory, ...rest) => begin(memory, null, ...rest));
        const isDaemon = request.trigger !== 'command';
        return isDaemon && result.wasRead === true && listed
          ? observer.observe(result, latest ?? (await load()), listed, pass)
          : result;
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
      return handle.write(location(), use, list, (memory, say, read, held) => {
        checkLock = held.check;
        const own = redacted(memory);
        return begin(own, own, say, read, held.holdsAdds);
      });
    },
    close: async () => {
      await service.close();
      await handle.close();
      await observer.close();
    },
  };
};

/** Only a pass lists the service's templates to identify the client. */
const notListed = (): Listing => Promise.reject(new Error('not listed'));
