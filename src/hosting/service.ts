import { setMaxListeners } from 'node:events';
import { backoff } from '../lib/backoff.ts';
import { systemClock, type Clock } from '../lib/clock.ts';
import { limit } from '../lib/limit.ts';
import type { RecordData } from '../model/record.ts';
import type { Route } from '../model/route.ts';
import type { ActualTemplate } from '../model/template.ts';
import { exchange } from '../network/exchange.ts';
import { WireError } from '../network/wire-error.ts';
import { redactor } from '../secrets.ts';
import { readAnswer, unanswered, type Call } from './answer.ts';
import { HostingError, type Operation } from './errors.ts';
import { readObject, readObjects, readSubdomainRecords, readTemplate, readTemplates } from './resources.ts';

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
 * the first one.
 */
export const connectHosting = (options: HostingOptions) => {
  const { baseUrl, requestTimeout, writeTimeout, maxAnswerSize, proxy, clock = systemClock } = options;
  const via = proxy === null ? '' : `, through the proxy ${proxy.shown} (${proxy.place})`;
  const limited = limit(options.concurrency);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  const writes = new Set<Promise<unknown>>();
  const sent = new Set<Call<unknown>>();
  const listing: Call<readonly ActualTemplate[]>['memo'] = { last: null };

  /** One request, and what its answer says. */
  const ask = async <T>(call: Call<T>, timeout: number, inBody = call.isWrite): Promise<T> => {
    const { operation, isWrite } = call;
    const { userToken, clientToken, places = '' } = options.tokens();
    const redact = (text: string): string => redactor([userToken, clientToken])(text);
    const parameters = new URLSearchParams({ user_token: userToken, client_token: clientToken });
    for (const [name, value] of Object.entries(call.parameters))
      if (value !== null && value !== undefined) parameters.set(name, String(value));
    const { origin, pathname } = new URL(baseUrl + call.path);
    const context = { baseUrl, places, via, isKnown: answering.has(origin), redact, now: clock.now };
    const started = performance.now();
    let status: number | null = null;
    let error: string | undefined;
    try {
      const answer = await exchange({
        kind: isWrite ? 'write' : 'read',
        origin,
        path: inBody ? pathname : `${pathname}?${parameters.toString()}`,
        route: options,
        headers: {
          accept: 'application/json',
          ...(inBody ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        body: inBody ? parameters.toString() : null,
        timeout,
        signal: closing.signal,
        beforeSend: () => {
          if (!isWrite) return;
          options.beforeWrite?.();
          sent.add(call);
        },
        maxSize: maxAnswerSize,
        previous: call.memo?.last?.body ?? null,
      });
      status = answer.status;
      answering.add(origin);
      return await readAnswer(call, answer, context);
    } catch (thrown) {
      const failure = thrown instanceof WireError ? unanswered(call, thrown, context) : thrown;
      error = failure instanceof HostingError ? failure.message : 'defect';
      throw failure;
    } finally {
      sent.delete(call);
      const durationMs = performance.now() - started;
      options.onRequest?.({ operation, status, durationMs, ...(error === undefined ? {} : { error }) });
    }
  };

  /** With the parameters in the query, as specified; where these are refused, once in a form. What works is kept. */
  const askRead = async <T>(call: Call<T>): Promise<T> => {
    const known = placesOfParameters.get(baseUrl);
    let place = known ?? 'query';
    let value: T;
    try {
      value = await ask(call, requestTimeout, place === 'body');
    } catch (error) {
      const mayBeUnread = error instanceof HostingError && [400, 401, 415, 422].includes(error.status ?? 0);
      if (known !== undefined || !mayBeUnread) throw error;
      place = 'body';
      value = await ask(call, requestTimeout, true).catch(() => Promise.reject(error));
    }
    placesOfParameters.set(baseUrl, place);
    return value;
  };

  /** Three attempts in all of what may be repeated, with backoff; throws the error of the last one. */
  const repeated = async <T>(
    { isWrite }: Call<T>,
    attempt: () => Promise<T>,
    maxBackoff: () => number,
  ): Promise<T> => {
    for (let failures = 1; ; failures += 1) {
      try {
        return await limited(attempt);
      } catch (error) {
        if (!(error instanceof HostingError) || failures === 3 || !mayRepeat(error, isWrite)) throw error;
        const delay = Math.max(backoff(failures, { first: 400, max: 800, jitter: 1 }), error.retryAfter ?? 0);
        if (delay > maxBackoff()) throw error;
        options.onBackoff?.(delay, error.message);
        await clock.sleep(delay, closing.signal);
        if (closing.signal.aborted) throw error;
      }
    }
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
    return repeated(call, attempt, () => requestTimeout);
  };

  const write = (
    operation: Operation,
    path: string,
    parameters: Call<unknown>['parameters'],
  ): Promise<ActualTemplate> => {
    const call = { operation, isWrite: true, path, parameters, read: readTemplate };
    let end: number | null = null;
    const left = (): number => (end ??= performance.now() + writeTimeout) - performance.now();
    const result = repeated(call, () => ask(call, left()), left);
    const ended = (): boolean => writes.delete(result);
    writes.add(result);
    result.then(ended, ended);
    return result;
  };

  return {
    /** What a read answers, one thing or a list of them, as it came. */
    show: (operation: Operation, path: string, parameters: Call<unknown>['parameters'] = {}) =>
      read<unknown>(operation, path, parameters, operation === 'show-account' ? readObject : readObjects),
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
    isWriting: (): boolean => sent.size > 0,
    /** Starts no more requests, ends reads and what is not sent yet, and waits for writes in flight. */
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.allSettled(writes);
    },
  };
};

type NewValues = { readonly [Key in Exclude<keyof RecordData, 'type'>]?: RecordData[Key] | null };

/**
 * A read changes nothing, so it may be repeated whenever another try may succeed. A write is repeated only if it certainly
 * was not sent: the service cannot undo a second one.
 */
const mayRepeat = ({ kind, status }: HostingError, isWrite: boolean): boolean =>
  kind === 'not-sent' ||
  (!isWrite && kind === 'rate-limited') ||
  (!isWrite && kind === 'unavailable' && (status ?? 500) >= 500);

/** Where the services of this process read the parameters of a GET, by base URL. */
const placesOfParameters = new Map<string, 'query' | 'body'>();

/** Where HTTP was answered in this process. */
const answering = new Set<string>();
