import { setMaxListeners } from 'node:events';
import { UserError } from '../errors.ts';
import type { Dialect } from '../model/dialect.ts';
import type { Route } from '../model/route.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { account, accounts, databases, type Account, type Database } from './account-resources.ts';
import { callOperation } from './call-operation.ts';
import type { Answered, BodyReader, Call, RequestTrace, Tokens } from './call.ts';
import { dnsRecords, dnsTemplate, dnsTemplates, readTemplate } from './dns-resources.ts';
import { HostingError, type Operation } from './errors.ts';
import type { WireAnswer, WireRequest } from './send-request.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { listingReader } from './listing.ts';
import { pageJoiner, readPages } from './read-pages.ts';
import { mayRepeatRead, mayRepeatWrite, withRetries } from './retry.ts';
import { Transport } from './transport.ts';
import { parseUrl } from '../lib/parse-url.ts';

export interface HostingOptions extends Dialect, Route {
  /** With the version prefix, e.g. `https://panel.example.net/api/v1`. */
  readonly baseUrl: string;
  /** Called before each request, so that reloaded tokens take effect. */
  readonly tokens: () => Tokens;
  /** Milliseconds for one read with its whole answer, or all pages; each retry of one page has as much again. */
  readonly requestTimeout: number;
  /** Milliseconds for a write with its retries. */
  readonly writeTimeout: number;
  /** The largest number of requests in flight. */
  readonly concurrency: number;
  /** Called after each request. */
  readonly onRequest?: (trace: RequestTrace) => void;
  /** Called before a failed request is retried, with the backoff in milliseconds and the reason. */
  readonly onBackoff?: (milliseconds: number, why: string) => void;
  /** Called just before a write is sent on its connection: throws if it may not be sent any more. */
  readonly beforeWrite?: () => void;
  /** Bytes. */
  readonly maxAnswerSize: number;
  readonly clock?: Pick<Clock, 'now' | 'sleep'>;
}

/** A record to add. Null or absent values are not sent; the service chooses them. */
export interface AdditionParameters {
  readonly type: string;
  readonly content: string;
  readonly name?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number | null;
}

/** The changes of a record. Null or absent values are not sent and stay as they are. */
export interface ChangeParameters {
  readonly recordId: number;
  readonly content?: string | null;
  readonly name?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number | null;
}

/** The seven operations of the service (specification §4). Each throws {@link HostingError}. */
export interface HostingService {
  listAccounts(): Promise<Account[]>;
  showAccount(id: number): Promise<Account>;
  listDatabases(accountId: number): Promise<Database[]>;
  /** The same object as before if the answer is the same. */
  listDnsTemplates(): Promise<readonly ActualTemplate[]>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  addDnsTemplateRecord(templateId: number, record: AdditionParameters): Promise<ActualTemplate>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  updateDnsTemplateRecord(templateId: number, change: ChangeParameters): Promise<ActualTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
  /** Starts no more requests, aborts reads, and waits for writes in flight. */
  close(): Promise<void>;
}

/** Sends nothing before the first operation. Throws {@link UserError} if the base URL is invalid. */
export const connectHosting = (options: HostingOptions): HostingService => {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  const { tokens, onRequest, requestTimeout, writeTimeout, concurrency, maxAnswerSize, apexName } = options;
  const { proxy, clock = systemClock } = options;
  const via = proxy === null ? '' : `, through the proxy ${proxy.shown} (${proxy.place})`;
  const transport = new Transport({ ...options, origin });
  const shape = { depth: deepest, values: Math.ceil(maxAnswerSize / bytesPerValue) };
  const limited = limit(concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Set<Promise<unknown>>();
  const proven = { GET: false, PUT: false };
  const listings = new Map<number, BodyReader<readonly ActualTemplate[]>>();
  const joinTemplates = pageJoiner<ActualTemplate>();

  const attempt = async <T>(call: Call<T>, timeout: number): Promise<Answered<T>> => {
    if (closing.signal.aborted)
      throw new HostingError('not sent: this program is shutting down', {
        operation: call.operation,
        kind: 'not-sent',
      });
    const send = (request: WireRequest): Promise<WireAnswer> =>
      call.method === 'PUT'
        ? transport.write({ ...request, beforeStart: options.beforeWrite })
        : transport.read(request, closing.signal);
    const wire = {
      origin,
      basePath,
      via,
      tokens,
      dialect: options,
      shape,
      maxAnswerSize,
      onRequest,
      now: clock.now,
      send,
      proven,
    };
    return callOperation(call, timeout, wire);
  };

  const read = <T>(call: Call<T>, timeout = requestTimeout): Promise<Answered<T>> =>
    withRetries(() => limited(() => attempt(call, timeout)), {
      mayRepeat: mayRepeatRead,
      clock,
      maxBackoff: () => timeout,
      signal: closing.signal,
      onBackoff: options.onBackoff,
    });

  const readList = async <T extends { readonly id: number }>(call: Call<readonly T[]>): Promise<T[]> =>
    (await readPages(call, requestTimeout, read)).flat();

  const readTemplates = (): Promise<readonly ActualTemplate[]> => {
    const call = get('list-dns-templates', '/dns_templates', {}, dnsTemplates);
    return readPages(call, requestTimeout, (page, timeout) => {
      const number = page.list?.number ?? 1;
      const reader = listings.get(number) ?? listingReader(readTemplate, shape);
      listings.set(number, reader);
      return read({ ...page, reader }, timeout);
    }).then(joinTemplates);
  };

  const write = <T>(call: Call<T>): Promise<Answered<T>> =>
    limited(() => {
      const end = performance.now() + writeTimeout;
      const left = (): number => end - performance.now();
      return withRetries(() => attempt(call, left()), {
        mayRepeat: mayRepeatWrite,
        clock,
        maxBackoff: left,
        signal: closing.signal,
        onBackoff: options.onBackoff,
      });
    });

  /** The template after a write: in its answer, or in a listing after it. */
  const writeTemplate = async (
    operation: Operation,
    templateId: number,
    action: string,
    parameters: NonNullable<Call<unknown>['parameters']>,
  ): Promise<ActualTemplate> => {
    const path = `/dns_templates/${segment(templateId)}/${action}`;
    const call = { operation, method: 'PUT', path, parameters } as const;
    if (options.writeAnswers === 'template') return (await write({ ...call, answer: dnsTemplate })).value;
    // A template counts even so: it may show what the listing lacks.
    const template = readTemplate((await write<unknown>({ ...call, answer: null })).value);
    if (template?.id === templateId) return template;
    return shownAfter(operation, templateId, await readTemplates().catch(unknownAfter(operation)));
  };

  const run = <T>(result: Promise<T>): Promise<T> => {
    const ended = (): boolean => open.delete(result);
    open.add(result);
    result.then(ended, ended);
    return result;
  };

  return {
    listAccounts: () => run(readList(get('list-accounts', '/accounts', {}, accounts))),
    showAccount: async (id) =>
      (await run(read(get('show-account', `/accounts/${segment(id)}`, {}, account)))).value,
    listDatabases: (accountId) =>
      run(readList(get('list-databases', '/databases', { account_id: accountId }, databases))),
    listDnsTemplates: () => run(readTemplates()),
    listDnsRecords: (subdomain) =>
      run(readList(get('list-dns-records', '/dns_records', { subdomain }, dnsRecords))),
    addDnsTemplateRecord: (templateId, { type, content, name, ttl, priority }) => {
      const record = { type, content, name: name ?? apexName, ttl, priority };
      return run(writeTemplate('add-dns-template-record', templateId, 'add_record', record));
    },
    updateDnsTemplateRecord: (templateId, { recordId, content, name, ttl, priority }) => {
      const change = { record_id: recordId, content, name, ttl, priority };
      return run(writeTemplate('update-dns-template-record', templateId, 'update_record', change));
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(open);
      await transport.close();
    },
  };
};

const shownAfter = (
  operation: Operation,
  templateId: number,
  listing: readonly ActualTemplate[],
): ActualTemplate => {
  const shown = listing.find(({ id }) => id === templateId);
  if (shown !== undefined) return shown;
  throw new HostingError('it was answered, but the listing after it lacks the template', {
    operation,
    kind: 'unknown',
  });
};

/** The write itself was accepted, whatever became of the listing. */
const unknownAfter =
  (operation: Operation) =>
  (error: unknown): never => {
    if (!(error instanceof HostingError)) throw error;
    const message = `it was answered, but the listing after it failed: ${error.message}`;
    throw new HostingError(message, { operation, kind: 'unknown' });
  };

/** The specification nests four levels. */
const deepest = 32;

/** A record takes a dozen bytes a value. The shortest values take thirty times their size once parsed. */
const bytesPerValue = 32;

const get = <T>(
  operation: Operation,
  path: string,
  parameters: Call<T>['parameters'] & object,
  answer: Call<T>['answer'],
): Call<T> => ({ operation, method: 'GET', path, parameters, answer });

const segment = (id: number): string => encodeURIComponent(id);

/** Throws a {@link UserError}. */
export const readBaseUrl = (baseUrl: string): { origin: string; basePath: string } => {
  const url = parseUrl(baseUrl);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UserError('The base URL must be a complete http or https URL, such as https://host/api/v1.');
  // The message does not repeat the value: the extra parts may be secret.
  if (url.username || url.password || url.search || url.hash)
    throw new UserError('The base URL must not contain a user name, a password, a query or a fragment.');
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
};
