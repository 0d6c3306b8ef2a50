import { setMaxListeners } from 'node:events';
import { UserError } from '../errors.ts';
import type { PresentTemplate, SubdomainRecord } from '../model/template.ts';
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
  /** Asked before each request, so that token files which were read again take effect. */
  readonly tokens: () => Tokens;
  /** Where a GET carries its parameters. */
  readonly getParameters: 'query' | 'body';
  /** Milliseconds that one read may take, its whole answer included; a repetition has as much again. */
  readonly requestTimeout: number;
  /** Milliseconds that a write may take in all, with whatever is tried again. */
  readonly writeTimeout: number;
  /** Requests in flight at most. */
  readonly concurrency: number;
  /** Told of each single request when it has ended. */
  readonly onRequest?: (trace: RequestTrace) => void;
  /** Told before a failed request is repeated: after how many milliseconds, and what went wrong. */
  readonly onPause?: (milliseconds: number, why: string) => void;
  /** Asked when a write goes on to its connection: it throws where that may not be sent any more. */
  readonly beforeWrite?: () => void;
  /** Bytes. */
  readonly maxAnswerSize: number;
}

/** A record to add. What is null or absent is not sent, and the service decides about it. */
export interface AdditionParameters {
  readonly type: string;
  readonly content: string;
  readonly name?: string | null;
  readonly ttl?: number | null;
  readonly priority?: number | null;
}

/** What changes in a record. What is null or absent is not sent and keeps its value at the service. */
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
  /** The very same list where the answer is the same as before. */
  listDnsTemplates(): Promise<readonly PresentTemplate[]>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  addDnsTemplateRecord(templateId: number, record: AdditionParameters): Promise<PresentTemplate>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  updateDnsTemplateRecord(templateId: number, change: ChangeParameters): Promise<PresentTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
  /** Starts nothing more and cuts reads off; the writes in flight are waited for. */
  close(): Promise<void>;
}

/**
 * Nothing is sent before the first operation. Throws {@link UserError} if the base URL cannot be used.
 */
export const connectHosting = (options: HostingOptions): HostingService => {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  const { tokens, getParameters, onRequest, requestTimeout, writeTimeout, concurrency, maxAnswerSize } =
    options;
  const transport = new Transport({ origin, concurrency, requestTimeout, writeTimeout, maxAnswerSize });
  const shape = { depth: deepest, values: Math.ceil(maxAnswerSize / bytesPerValue) };
  const limited = limit(concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Set<Promise<unknown>>();
  const listing = listingReader(readTemplate, shape);

  const attempt = async <T>(call: Call<T>, timeout: number): Promise<T> => {
    if (closing.signal.aborted)
      throw new HostingError('not sent: this program is stopping', {
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
      onPause: options.onPause,
    });

  const write = <T>(call: Call<T>): Promise<T> =>
    limited(() => {
      const end = performance.now() + writeTimeout;
      const left = (): number => end - performance.now();
      return withRetries(() => attempt(call, left()), {
        mayRepeat: mayRepeatWrite,
        maxBackoff: left,
        signal: closing.signal,
        onPause: options.onPause,
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

/** A record takes a dozen bytes for each of its values. Parsed, the shortest of all values take thirty times theirs. */
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
    throw new UserError('The base URL must be a whole http or https URL, such as https://host/api/v1.');
  // The value itself is not repeated: what does not belong into it may be a secret.
  if (url.username || url.password || url.search || url.hash)
    throw new UserError('The base URL must not hold a user name, a password, a query or a fragment.');
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
};
