import { setMaxListeners } from 'node:events';
import { UserError } from '../errors.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { account, accounts, databases, type Account, type Database } from './account-resources.ts';
import { callOperation, type Call, type RequestTrace, type Tokens } from './call-operation.ts';
import { dnsRecords, dnsTemplate, dnsTemplates, readTemplate } from './dns-resources.ts';
import { HostingError, type Operation } from './errors.ts';
import type { WireAnswer, WireRequest } from './send-request.ts';
import { limit } from '../lib/limit.ts';
import { listingReader } from './listing.ts';
import { mayRepeatRead, mayRepeatWrite, withRetries } from './retry.ts';
import { Transport } from './transport.ts';

export interface HostingOptions {
  /** With the version prefix, e.g. `https://panel.example.net/api/v1`. */
  readonly baseUrl: string;
  /** Called before each request, so that reloaded tokens take effect. */
  readonly tokens: () => Tokens;
  /** How a GET sends its parameters. */
  readonly getParameters: 'query' | 'body';
  /** Milliseconds for one read with its whole answer; each retry has as much again. */
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
  const { tokens, getParameters, onRequest, requestTimeout, writeTimeout, concurrency, maxAnswerSize } =
    options;
  const transport = new Transport({ origin, requestTimeout, writeTimeout, maxAnswerSize });
  const shape = { depth: deepest, values: Math.ceil(maxAnswerSize / bytesPerValue) };
  const limited = limit(concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Set<Promise<unknown>>();
  const listing = listingReader(readTemplate, shape);

  const attempt = async <T>(call: Call<T>, timeout: number): Promise<T> => {
    if (closing.signal.aborted)
      throw new HostingError('not sent: this program is shutting down', {
        operation: call.operation,
        kind: 'not-sent',
      });
    const send = (request: WireRequest): Promise<WireAnswer> =>
      call.method === 'PUT'
        ? transport.write({ ...request, beforeStart: options.beforeWrite })
        : transport.read(request, closing.signal);
    return callOperation(call, timeout, { origin, basePath, tokens, getParameters, shape, onRequest, send });
  };

  const read = <T>(call: Call<T>): Promise<T> =>
    withRetries(() => limited(() => attempt(call, requestTimeout)), {
      mayRepeat: mayRepeatRead,
      maxBackoff: () => requestTimeout,
      signal: closing.signal,
      onBackoff: options.onBackoff,
    });

  const write = <T>(call: Call<T>): Promise<T> =>
    limited(() => {
      const end = performance.now() + writeTimeout;
      const left = (): number => end - performance.now();
      return withRetries(() => attempt(call, left()), {
        mayRepeat: mayRepeatWrite,
        maxBackoff: left,
        signal: closing.signal,
        onBackoff: options.onBackoff,
      });
    });

  const run = <T>(call: Call<T>): Promise<T> => {
    const result = call.method === 'PUT' ? write(call) : read(call);
    const ended = (): boolean => open.delete(result);
    open.add(result);
    result.then(ended, ended);
    return result;
  };

  return {
    listAccounts: () => run(get('list-accounts', '/accounts', {}, accounts)),
    showAccount: (id) => run(get('show-account', `/accounts/${segment(id)}`, {}, account)),
    listDatabases: (accountId) =>
      run(get('list-databases', '/databases', { account_id: accountId }, databases)),
    listDnsTemplates: () =>
      run({ ...get('list-dns-templates', '/dns_templates', {}, dnsTemplates), reader: listing }),
    listDnsRecords: (subdomain) => run(get('list-dns-records', '/dns_records', { subdomain }, dnsRecords)),
    addDnsTemplateRecord: (templateId, { type, content, name, ttl, priority }) =>
      run({
        operation: 'add-dns-template-record',
        method: 'PUT',
        path: `/dns_templates/${segment(templateId)}/add_record`,
        parameters: { type, content, name, ttl, priority },
        answer: dnsTemplate,
      }),
    updateDnsTemplateRecord: (templateId, { recordId, content, name, ttl, priority }) =>
      run({
        operation: 'update-dns-template-record',
        method: 'PUT',
        path: `/dns_templates/${segment(templateId)}/update_record`,
        parameters: { record_id: recordId, content, name, ttl, priority },
        answer: dnsTemplate,
      }),
    close: async () => {
      closing.abort();
      await Promise.allSettled(open);
      await transport.close();
    },
  };
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

const readBaseUrl = (baseUrl: string): { origin: string; basePath: string } => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UserError('The base URL must be a complete http or https URL, such as https://host/api/v1.');
  // The message does not repeat the value: the extra parts may be secret.
  if (url.username || url.password || url.search || url.hash)
    throw new UserError('The base URL must not contain a user name, a password, a query or a fragment.');
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
};
