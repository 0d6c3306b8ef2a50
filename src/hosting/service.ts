import { setMaxListeners } from 'node:events';
import { UserError } from '../errors.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { parseUrl } from '../lib/parse-url.ts';
import type { RecordData } from '../model/record.ts';
import type { Route } from '../model/route.ts';
import type { ActualTemplate, SubdomainRecord } from '../model/template.ts';
import { exchange, type Room } from '../network/exchange.ts';
import { WireError } from '../network/wire-error.ts';
import { redactor } from '../secrets.ts';
import { readAnswer } from './answer.ts';
import { isWrite, lostKind, type Call, type Memo, type Tokens } from './call.ts';
import { readSubdomainRecord, readTemplate, readTemplates } from './dns-resources.ts';
import { HostingError, type Operation } from './errors.ts';
import { listOf, resourceOf, resourcesOf, type Resource } from './fields.ts';
import { mayRepeatRead, mayRepeatWrite, withRetries, type RetryPolicy } from './retry.ts';
import { oneLine } from './words.ts';

export interface HostingOptions extends Route {
  /** With the version prefix, e.g. `https://panel.example.net/api/v1`. */
  readonly baseUrl: string;
  /** Called before each request, so that reloaded tokens take effect. */
  readonly tokens: () => Tokens;
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
  readonly clock?: Pick<Clock, 'now' | 'sleep'>;
}

/** One request for metrics and logs, without secrets. */
export interface RequestTrace {
  readonly operation: Operation;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error?: string;
}

/** A record to add. What is null or absent is not sent; the service chooses it. */
export type AdditionParameters = Pick<RecordData, 'type' | 'content'> & Partial<RecordData>;

/** The changes of a record. What is null or absent is not sent and stays as it is. */
export type ChangeParameters = { readonly recordId: number } & {
  readonly [Key in Exclude<keyof RecordData, 'type'>]?: RecordData[Key] | null;
};

/** The seven operations of the service (specification §4). Each throws {@link HostingError}. */
export interface HostingService {
  listAccounts(): Promise<readonly Resource[]>;
  showAccount(id: number): Promise<Resource>;
  listDatabases(accountId: number): Promise<readonly Resource[]>;
  /** The same object as before if the answer is the same, and the same templates where they are. */
  listDnsTemplates(): Promise<readonly ActualTemplate[]>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  addDnsTemplateRecord(templateId: number, record: AdditionParameters): Promise<ActualTemplate>;
  /** Gives the template after the write. Sent at most once: see {@link HostingErrorKind}. */
  updateDnsTemplateRecord(templateId: number, change: ChangeParameters): Promise<ActualTemplate>;
  listDnsRecords(subdomain: string): Promise<SubdomainRecord[]>;
  /** Whether the outcome of a write that was sent is not known yet. */
  readonly isWriting: boolean;
  /** Starts no more requests, ends reads and what is not sent yet, and waits for writes in flight. */
  close(): Promise<void>;
}

/** Sends nothing before the first operation. Throws {@link UserError} if the base URL is invalid. */
export const connectHosting = (options: HostingOptions): HostingService => {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  const baseUrl = origin + basePath;
  const { requestTimeout, writeTimeout, concurrency, maxAnswerSize, proxy, clock = systemClock } = options;
  const via = proxy === null ? '' : `, through the proxy ${proxy.shown} (${proxy.place})`;
  const readRoom = roomOf(maxAnswerSize);
  const limited = limit(concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Set<Promise<unknown>>();
  const writing = new Set<Call<unknown>>();
  const listing: Memo<readonly ActualTemplate[]> = { last: null };
  let hasAnswered = false;
  let refusedTokens: string | null = null;

  /** One request, and what its answer says. */
  const ask = async <T>(call: Call<T>, timeout: number, inBody: boolean): Promise<T> => {
    const { operation, method, path, memo } = call;
    const isOnce = isWrite(call);
    if (closing.signal.aborted)
      throw new HostingError('not sent: this program is shutting down', { operation, kind: 'not-sent' });
    const tokens = options.tokens();
    const { userToken, clientToken, places = '' } = tokens;
    const redact = (text: string): string => redactor([userToken, clientToken])(text);
    const parameters = parametersOf(call, tokens);
    const started = performance.now();
    let status: number | null = null;
    let error: string | undefined;
    try {
      const answer = await exchange({
        method,
        kind: isOnce ? 'write' : 'read',
        origin,
        path: basePath + path + (inBody ? '' : `?${parameters}`),
        route: options,
        headers: { accept: 'application/json', ...(inBody ? { 'content-type': formType } : {}) },
        body: inBody ? parameters : null,
        timeout,
        signal: closing.signal,
        beforeSend: () => {
          options.beforeWrite?.();
          writing.add(call);
        },
        // A write has its own: the size of what is read must not make its outcome unknown.
        room: isOnce ? roomOf(maxAnswerSize) : readRoom,
        previous: memo?.last?.body ?? null,
      });
      status = answer.status;
      hasAnswered = true;
      return await readAnswer(call, answer, { baseUrl, places, via, redact, now: clock.now, maxAnswerSize });
    } catch (thrown) {
      const failure = thrown instanceof WireError ? unanswered(call, thrown, redact) : thrown;
      error = failure instanceof HostingError ? failure.message : 'defect';
      throw failure;
    } finally {
      writing.delete(call);
      const durationMs = performance.now() - started;
      options.onRequest?.({ operation, status, durationMs, ...(error === undefined ? {} : { error }) });
    }
  };

  const unanswered = (
    call: Call<unknown>,
    { message, fault, sent }: WireError,
    redact: (text: string) => string,
  ): HostingError => {
    const setting = isWrite(call) ? 'writeTimeout' : 'requestTimeout';
    const isSlow = fault === 'timeout' && sent;
    // A port that expects TLS ends the connection, or answers in TLS.
    const isTls =
      origin.startsWith('http:') && !hasAnswered && /ended the connection|is not HTTP/.test(message);
    const advice = `${isSlow ? `: if the service needs longer, allow more with ${setting}` : ''}${isTls ? ': does this port need https:?' : ''}`;
    return new HostingError(`${oneLine(redact(message))}${advice}${fault === 'proxy' ? '' : via}`, {
      operation: call.operation,
      kind: !sent ? 'not-sent' : lostKind(call, fault === 'too-large' ? 'bad-answer' : 'unavailable'),
    });
  };

  /** With the parameters in the query, as specified; where these are refused, once in a form. What works is kept. */
  const askRead = async <T>(call: Call<T>): Promise<T> => {
    const known = placesOfParameters.get(baseUrl);
    try {
      const value = await ask(call, requestTimeout, known === 'body');
      placesOfParameters.set(baseUrl, known ?? 'query');
      return value;
    } catch (error) {
      if (known !== undefined || !mayBeUnread(error)) throw error;
      const { userToken, clientToken } = options.tokens();
      const tokens = `${userToken} ${clientToken}`;
      if (tokens === refusedTokens) throw error;
      const value = await ask(call, requestTimeout, true).catch((again: unknown) => {
        // They are probably wrong.
        if (mayBeUnread(again)) refusedTokens = tokens;
        throw error;
      });
      placesOfParameters.set(baseUrl, 'body');
      return value;
    }
  };

  const run = <T>(
    task: () => Promise<T>,
    policy: Pick<RetryPolicy, 'mayRepeat' | 'maxBackoff'>,
  ): Promise<T> => {
    const result = withRetries(task, {
      clock,
      signal: closing.signal,
      onBackoff: options.onBackoff,
      ...policy,
    });
    const ended = (): boolean => open.delete(result);
    open.add(result);
    result.then(ended, ended);
    return result;
  };

  const read = <T>(call: Omit<Call<T>, 'method'>): Promise<T> =>
    run(() => limited(() => askRead({ ...call, method: 'GET' })), {
      mayRepeat: mayRepeatRead,
      maxBackoff: () => requestTimeout,
    });

  const write = (
    operation: Operation,
    templateId: number,
    action: string,
    parameters: Call<unknown>['parameters'],
  ): Promise<ActualTemplate> => {
    const path = `/dns_templates/${encodeURIComponent(templateId)}/${action}`;
    const call = { operation, method: 'PUT', path, parameters, read: readTemplate } as const;
    let end: number | null = null;
    const left = (): number => (end ??= performance.now() + writeTimeout) - performance.now();
    return run(() => limited(() => ask(call, left(), true)), { mayRepeat: mayRepeatWrite, maxBackoff: left });
  };

  return {
    listAccounts: () =>
      read({ operation: 'list-accounts', path: '/accounts', parameters: {}, read: resourcesOf }),
    showAccount: (id) =>
      read({
        operation: 'show-account',
        path: `/accounts/${encodeURIComponent(id)}`,
        parameters: {},
        read: resourceOf,
      }),
    listDatabases: (accountId) =>
      read({
        operation: 'list-databases',
        path: '/databases',
        parameters: { account_id: accountId },
        read: resourcesOf,
      }),
    listDnsTemplates: () =>
      read({
        operation: 'list-dns-templates',
        path: '/dns_templates',
        parameters: {},
        read: (value) => readTemplates(value, listing.last?.value ?? []),
        memo: listing,
      }),
    listDnsRecords: (subdomain) =>
      read({
        operation: 'list-dns-records',
        path: '/dns_records',
        parameters: { subdomain },
        read: (value) => listOf(value, readSubdomainRecord),
      }),
    addDnsTemplateRecord: (templateId, { type, content, name, ttl, priority }) =>
      write('add-dns-template-record', templateId, 'add_record', { type, content, name, ttl, priority }),
    updateDnsTemplateRecord: (templateId, { recordId, content, name, ttl, priority }) =>
      write('update-dns-template-record', templateId, 'update_record', {
        record_id: recordId,
        content,
        name,
        ttl,
        priority,
      }),
    get isWriting() {
      return writing.size > 0;
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled(open);
    },
  };
};

/** Where the services of this process read the parameters of a GET, by base URL. */
const placesOfParameters = new Map<string, 'query' | 'body'>();

/** Whether the service may not have found the parameters. */
const mayBeUnread = (error: unknown): boolean =>
  error instanceof HostingError && [400, 401, 415, 422].includes(error.status ?? 0);

/** All parameters are texts (specification §4). */
const parametersOf = ({ parameters }: Call<unknown>, { userToken, clientToken }: Tokens): string => {
  const pairs = new URLSearchParams({ user_token: userToken, client_token: clientToken });
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined) pairs.set(name, String(value));
  return pairs.toString();
};

const formType = 'application/x-www-form-urlencoded';

const roomOf = (size: number): Room => ({ size, left: size });

/** Throws a {@link UserError}. */
const readBaseUrl = (baseUrl: string): { origin: string; basePath: string } => {
  const url = parseUrl(baseUrl);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UserError('The base URL must be a complete http or https URL, such as https://host/api/v1.');
  // The message does not repeat the value: the extra parts may be secret.
  if (url.username || url.password || url.search || url.hash)
    throw new UserError('The base URL must not contain a user name, a password, a query or a fragment.');
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
};
