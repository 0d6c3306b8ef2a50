import type { Dialect } from '../model/dialect.ts';
import { redactor } from '../secrets.ts';
import type { Call, Tokens } from './call.ts';
import { decoded } from './read-answer.ts';
import { oneLine, saidIn } from './excerpt.ts';
import { requestOf } from './parameters.ts';
import { isSuccess, TransportError } from './send-request.ts';
import { readBaseUrl, type HostingOptions } from './service.ts';
import { Transport } from './transport.ts';

/** What a service answered to one request, whatever it is. Texts are redacted. */
export interface ProbeAnswer {
  /** Null if there was no answer; `words` say why. */
  readonly status: number | null;
  readonly isSuccess: boolean;
  readonly durationMs: number;
  readonly bytes: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body; undefined if it is no JSON. */
  readonly json: unknown;
  /** The beginning of the body, or the error that it names. */
  readonly words: string;
}

export interface Probe {
  /** One request, once. A write passes `beforeWrite` of the options. */
  ask(call: Omit<Call<unknown>, 'answer'>, dialect: Dialect, tokens: Tokens): Promise<ProbeAnswer>;
  close(): Promise<void>;
}

/** Asks a service what it does, rather than for its templates. */
export const openProbe = (options: HostingOptions): Probe => {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  const transport = new Transport({ ...options, origin });
  const { signal } = new AbortController();
  return {
    ask: async (call, dialect, tokens) => {
      const own = options.tokens();
      const redact = redactor([own.userToken, own.clientToken, tokens.userToken, tokens.clientToken]);
      const isRead = call.method === 'GET';
      const timeout = isRead ? options.requestTimeout : options.writeTimeout;
      const request = { ...requestOf({ ...call, answer: null }, tokens, dialect, basePath), timeout };
      const started = performance.now();
      const none = { status: null, isSuccess: false, bytes: 0, headers: {}, json: undefined };
      try {
        const sent = isRead
          ? await transport.read(request, signal)
          : await transport.write({ ...request, beforeStart: options.beforeWrite });
        const durationMs = performance.now() - started;
        const { status, headers } = sent;
        const about = { status, isSuccess: isSuccess(status), durationMs, bytes: sent.body.length, headers };
        const answer = await decoded(sent, options.maxAnswerSize);
        if (answer === null) return { ...about, json: undefined, words: 'cannot be decompressed' };
        return { ...about, json: parsed(answer.body), words: saidIn(answer, redact) };
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        const durationMs = performance.now() - started;
        return { ...none, durationMs, words: oneLine(redact(error.message)) };
      }
    },
    close: () => transport.close(),
  };
};

const parsed = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
};
