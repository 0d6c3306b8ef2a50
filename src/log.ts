import { type Logger, pino } from 'pino';
import type { Output } from './io.ts';
import { lineWriter } from './log/lines.ts';
import { inWords, type Line } from './log/words.ts';
import { escapeInJson, shortText } from './lib/escape-control.ts';
import { currentRedactor, redactTexts } from './secrets.ts';
import type { LogLevel } from './settings/table.ts';

export interface LogOptions {
  readonly level: LogLevel;
  /** stdout for the daemon, whose result its log is; stderr for a command, whose result goes to stdout. */
  readonly out: Pick<Output, 'write' | 'fd'>;
  /** `text`: in words, for people. */
  readonly format?: 'json' | 'text';
  /** Called before each write: a token file may have been replaced since the last one. */
  readonly secrets: () => readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Writes one JSON object a line, without known secrets and of at most 16 KiB; or the same in words. */
export const createLogger = ({ level, out, secrets, now, format = 'json' }: LogOptions): Logger => {
  const redactor = currentRedactor(secrets);
  const shown = (json: string): string => {
    const line = fitted(withoutSecrets(json, redactor()));
    return format === 'json' ? line : `${inWords(JSON.parse(line))}\n`;
  };
  const time = (): string => new Date(now()).toISOString();
  const msg = 'the log was not read, or could not be written: lines are missing here';
  const write = lineWriter(out, (lines) =>
    shown(`${JSON.stringify({ level: 'warn', time: time(), event: 'log.dropped', lines, msg })}\n`),
  );
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${time()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields, error: errorFields },
    },
    { write: (json) => write(shown(json)) },
  );
};

const withoutSecrets = (json: string, redact: (text: string) => string): string => {
  if (redact(json) === json) return json;
  const { msg, ...fields }: Line = JSON.parse(json);
  // A message is a fixed text of ours, but for an error's, which pino uses if there is no other.
  const { err } = fields;
  const isOfError = typeof err === 'object' && err !== null && 'message' in err && err.message === msg;
  const message = typeof msg === 'string' && isOfError ? redact(msg) : msg;
  return `${JSON.stringify({ ...redactTexts(fields, redact), msg: message })}\n`;
};

/**
 * The line, which ends with a line feed, in at most 16 KiB: Docker cuts longer ones. Long texts keep their beginning and
 * say how much is missing; long lists keep their first elements, and `more` says how many are missing.
 */
const fitted = (json: string): string => {
  const whole = escapeInJson(json);
  if (isFit(whole)) return whole;
  const line: Line = JSON.parse(json);
  for (let items = 512; items >= 1; items /= 2) {
    const text = linear(shortened(line, { items, text: items > 1 ? 1_024 : 64 }));
    if (isFit(text)) return text;
  }
  const { level, time, event, client, msg } = shortened(line, { items: 0, text: 64 });
  return linear({ level, time, event, client, more: 'all other fields', msg });
};

const isFit = (line: string): boolean => Buffer.byteLength(line) <= 16 * 1024;

const linear = (line: Line): string => `${escapeInJson(JSON.stringify(line))}\n`;

const shortened = (line: Line, limit: { readonly items: number; readonly text: number }): Line => {
  let more = 0;
  const visit = (part: unknown): unknown => {
    if (typeof part === 'string') return shortText(part, limit.text);
    if (typeof part !== 'object' || part === null) return part;
    if (!Array.isArray(part))
      return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, visit(one)]));
    more += Math.max(part.length - limit.items, 0);
    return part.slice(0, limit.items).map(visit);
  };
  const { msg, ...fields } = Object.fromEntries(Object.entries(line).map(([key, one]) => [key, visit(one)]));
  return { ...fields, ...(more === 0 ? {} : { more }), msg };
};

/**
 * The fields of an error that may be logged: libraries attach requests, headers and whole responses to
 * theirs. The stack is logged only for unexpected errors, which have no code of their own.
 */
const errorFields = (thrown: unknown, depth = 0): unknown => {
  if (typeof thrown === 'string') return thrown;
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { name, message, cause, stack = '' } = thrown;
  const isUnexpected = unexpected.has(name) && !('code' in thrown);
  return {
    name,
    message,
    ...Object.fromEntries(Object.entries(thrown).filter(([key, value]) => known.has(key) && isPlain(value))),
    ...(cause === undefined || depth === 3 ? {} : { cause: errorFields(cause, depth + 1) }),
    ...(isUnexpected ? { stack: stack.match(/^ {4}at .*$/gm)?.map((frame) => frame.trim()) ?? [] } : {}),
  };
};

const known = new Set('code status kind operation retryAfter errno syscall address port path'.split(' '));

const unexpected = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError']);

const isPlain = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
