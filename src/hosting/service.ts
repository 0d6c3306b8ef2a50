import { setMaxListeners } from 'node:events';
import { UserError } from '../errors.ts';
import { backoff } from '../lib/backoff.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import { parseUrl } from '../lib/parse-url.ts';
import type { RecordData } from '../model/record.ts';
import type { Route } from '../model/route.ts';
import type { ActualTemplate } from '../model/template.ts';
import { exchange } from '../network/exchange.ts';
import { WireError } from '../network/wire-error.ts';
import { redactor } from '../secrets.ts';
import { lostKind, oneLine, readAnswer, type Call, type Memo } from './answer.ts';
import { HostingError, type Operation } from './errors.ts';
import {
  readResource,
  readResources,
  readSubdomainRecords,
  readTemplate,
  readTemplates,
} from './resources.ts';

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

export interface Tokens {
  readonly userToken: string;
  readonly clientToken: string;
  /** Where the tokens come from, for error messages. */
  readonly places?: string;
}

/** One request for metrics and logs, without secrets. */
export interface RequestTrace {
  readonly operation: Operation;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly error?: string;
}

export type HostingService = ReturnType<typeof connectHosting>;

/**
 * The seven operations of the service (specification §4), each of which throws {@link HostingError}. Sends nothing before
 * the first one. Throws {@link UserError} if the base URL is invalid.
 */
export const connectHosting = (options: HostingOptions) => {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  const baseUrl = origin + basePath;
  const { requestTimeout, writeTimeout, maxAnswerSize, proxy, clock = systemClock } = options;
  const via = proxy === null ? '' : `, through the proxy ${proxy.shown} (${proxy.place})`;
  const limited = limit(options.concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const open = new Set<Promise<unknown>>();
  const writing = new Set<Call<unknown>>();
  const listing: Memo<readonly ActualTemplate[]> = { last: null };
  let hasAnswered = false;
  let refusedTokens: string | null = null;

  /** One request, and what its answer says. */
  const ask = async <T>(call: Call<T>, timeout: number, inBody = call.isWrite): Promise<T> => {
    const { operation, path, isWrite, memo } = call;
    if (closing.signal.aborted)
      throw new HostingError('not sent: this program is shutting down', { operation, kind: 'not-sent' });
    const tokens = options.tokens();
    const redact = (text: string): string => redactor([tokens.userToken, tokens.clientToken])(text);
    const parameters = parametersOf(call, tokens);
    const started = performance.now();
    let status: number | null = null;
    let error: string | undefined;
    try {
      const answer = await exchange({
        method: isWrite ? 'PUT' : 'GET',
        kind: isWrite ? 'write' : 'read',
        origin,
        path: basePath + path + (inBody ? '' : `?${parameters}`),
        route: options,
        headers: {
          accept: 'application/json',
          ...(inBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        body: inBody ? parameters : null,
        timeout,
        signal: closing.signal,
        beforeSend: () => {
          if (!isWrite) return;
          options.beforeWrite?.();
          writing.add(call);
        },
        maxSize: maxAnswerSize,
        previous: memo?.last?.body ?? null,
      });
      status = answer.status;
      hasAnswered = true;
      const { places = '' } = tokens;
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
    let advice = '';
    if (fault === 'timeout' && sent)
      advice = `: if the service needs longer, allow more with ${call.isWrite ? 'writeTimeout' : 'requestTimeout'}`;
    // A port that expects TLS ends the connection, or answers in TLS.
    if (origin.startsWith('http:') && !hasAnswered && /ended the connection|is not HTTP/.test(message))
      advice = ': does this port need https:?';
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
      const { userToken, clientToken } = options.tokens();
      const tokens = `${userToken} ${clientToken}`;
      if (known !== undefined || !mayBeUnread(error) || tokens === refusedTokens) throw error;
      const value = await ask(call, requestTimeout, true).catch((again: unknown) => {
        // They are probably wrong.
        if (mayBeUnread(again)) refusedTokens = tokens;
        throw error;
      });
      placesOfParameters.set(baseUrl, 'body');
      return value;
    }
  };

  /** Three attempts in all of what may be repeated, with backoff; throws the error of the last one. */
  const repeated = async <T>(
    attempt: () => Promise<T>,
    mayRepeat: (error: HostingError) => boolean,
    maxBackoff: () => number,
  ): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await limited(attempt);
      } catch (error) {
        if (!(error instanceof HostingError) || failures === 3 || !mayRepeat(error)) throw error;
        const delay = Math.max(backoff(failures, { first: 400, max: 800, jitter: 1 }), error.retryAfter ?? 0);
        if (delay > maxBackoff()) throw error;
        options.onBackoff?.(delay, error.message);
        await clock.sleep(delay, closing.signal);
        if (closing.signal.aborted) throw error;
      }
    }
  };

  const untilClosed = <T>(result: Promise<T>): Promise<T> => {
    const ended = (): boolean => open.delete(result);
    open.add(result);
    result.then(ended, ended);
    return result;
  };

  const read = <T>(
    operation: Operation,
    path: string,
    parameters: Call<T>['parameters'],
    readValue: Call<T>['read'],
    memo?: Call<T>['memo'],
  ): Promise<T> => {
    const call = { operation, isWrite: false, path, parameters, read: readValue, memo };
    const attempt = (): Promise<T> => askRead(call);
    return untilClosed(repeated(attempt, mayRepeatRead, () => requestTimeout));
  };

  const write = (
    operation: Operation,
    path: string,
    parameters: Call<unknown>['parameters'],
  ): Promise<ActualTemplate> => {
    const call = { operation, isWrite: true, path, parameters, read: readTemplate };
    let end: number | null = null;
    const left = (): number => (end ??= performance.now() + writeTimeout) - performance.now();
    return untilClosed(repeated(() => ask(call, left()), mayRepeatWrite, left));
  };

  return {
    listAccounts: () => read('list-accounts', '/accounts', {}, readResources),
    showAccount: (id: number) => read('show-account', `/accounts/${id}`, {}, readResource),
    listDatabases: (account_id: number) =>
      read('list-databases', '/databases', { account_id }, readResources),
    /** The same object as before if the answer is the same, and the same templates where they are. */
    listDnsTemplates: () => {
      const readListing = (value: unknown) => readTemplates(value, listing.last?.value ?? []);
      return read('list-dns-templates', '/dns_templates', {}, readListing, listing);
    },
    listDnsRecords: (subdomain: string) =>
      read('list-dns-records', '/dns_records', { subdomain }, readSubdomainRecords),
    /** Gives the template after the write. Sent at most once. What is null or absent is chosen by the service. */
    addDnsTemplateRecord: (
      id: number,
      { type, content, name, ttl, priority }: Pick<RecordData, 'type' | 'content'> & Partial<RecordData>,
    ) => {
      const parameters = { type, content, name, ttl, priority };
      return write('add-dns-template-record', `/dns_templates/${id}/add_record`, parameters);
    },
    /** The same for a change of a record. What is null or absent stays as it is. */
    updateDnsTemplateRecord: (
      id: number,
      { recordId, content, name, ttl, priority }: { readonly recordId: number } & NewValues,
    ) => {
      const parameters = { record_id: recordId, content, name, ttl, priority };
      return write('update-dns-template-record', `/dns_templates/${id}/update_record`, parameters);
    },
    /** Whether the outcome of a write that was sent is not known yet. */
    get isWriting() {
      return writing.size > 0;
    },
    /** Starts no more requests, ends reads and what is not sent yet, and waits for writes in flight. */
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.allSettled(open);
    },
  };
};

type NewValues = { readonly [Key in Exclude<keyof RecordData, 'type'>]?: RecordData[Key] | null };

/** A read changes nothing, so it may be repeated whenever another try may succeed. */
const mayRepeatRead = ({ kind, status }: HostingError): boolean =>
  kind === 'not-sent' ||
  kind === 'rate-limited' ||
  (kind === 'unavailable' && (status === null || status === 408 || status >= 500));

/** A write is repeated only if it certainly was not sent: the service cannot undo a second one. */
const mayRepeatWrite = ({ kind }: HostingError): boolean => kind === 'not-sent';

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
