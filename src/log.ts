import { type DestinationStream, type Logger, destination, pino } from 'pino';
import { hasColors, type Output } from './io.ts';
import { logRedactor, parseLine } from './log/redact.ts';
import { fitted } from './log/fit.ts';
import { inWords } from './log/words.ts';
import type { LogLevel } from './settings/table.ts';

type LogOutput = Pick<Output, 'write' | 'fd' | 'isTTY' | 'hasColors'>;

export interface LogOptions {
  readonly level: LogLevel;
  /** stdout for the daemon, whose result its log is; stderr for a command, whose result goes to stdout. */
  readonly out: LogOutput;
  /** `text`: in words, for people. */
  readonly format?: 'json' | 'text';
  /** Called before each write: a token file may have been replaced since the last one. */
  readonly secrets: () => readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * Writes one JSON object a line before the call returns, so that no line is lost however the process ends.
 * Replaces known secrets anywhere in a line, and cuts lines that are too long, which the line says.
 */
export const createLogger = ({ level, out, secrets, now, format = 'json' }: LogOptions): Logger => {
  const show =
    format === 'json' ? (lines: string): string => lines : (lines: string): string => asText(lines, out);
  const gathering = gatheringOf(linesTo(out), logRedactor(secrets), show);
  const log = pino(
    {
      level,
      base: null,
      timestamp: timestamps(now),
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: errorFields, error: errorFields },
    },
    gathering,
  );
  gatherings.set(log, gathering);
  return log;
};

/** A stream of the process would hold lines back, and lose them where the process is killed. */
const linesTo = (out: LogOutput): DestinationStream => {
  if (out.fd === undefined) return { write: (lines) => void out.write(lines) };
  const lines = destination({ fd: out.fd, sync: true, maxLength: maxUnwritten });
  // The reader is gone or the disk is full: the daemon continues without its log.
  lines.on('error', () => undefined);
  return lines;
};

const asText = (lines: string, out: LogOutput): string => {
  const color = hasColors(out);
  return lines
    .split('\n')
    .map((line) => (line === '' ? '' : inWords(parseLine(line), color)))
    .join('\n');
};

/**
 * Combines the lines that `task` logs into a few writes: a thousand small ones would take longer than the
 * rest of a pass.
 */
export const logTogether = (log: Logger, task: () => void): void => {
  const gathering = gatherings.get(log);
  gathering?.begin();
  try {
    task();
  } finally {
    gathering?.end();
  }
};

interface Gathering extends DestinationStream {
  begin(): void;
  end(): void;
}

const gatherings = new WeakMap<Logger, Gathering>();

const gatheringOf = (
  out: DestinationStream,
  redact: (text: string) => string,
  show: (lines: string) => string,
): Gathering => {
  let lines: string | null = null;
  const put = (text: string): void => out.write(show(redact(text)));
  return {
    begin: () => void (lines ??= ''),
    end: () => {
      if (lines) put(lines);
      lines = null;
    },
    write: (line) => {
      const fit = line.length > maxLineLength ? fitLine(redact(line)) : line;
      if (lines === null) return put(fit);
      lines += fit;
      if (lines.length < maxGathered) return;
      put(lines);
      lines = '';
    },
  };
};

/** UTF-16 code units. */
const maxGathered = 64 * 1024;
const maxLineLength = 192 * 1024;

/**
 * Bytes kept while the destination accepts none; more are dropped. With three bytes a code unit, the longest
 * line fits behind everything gathered before it.
 */
const maxUnwritten = 3 * (maxGathered + maxLineLength) + 64 * 1024;

const fitLine = (line: string): string => `${fitted(parseLine(line), maxLineLength)}\n`;

/** ISO 8601. Cached, since many lines of a pass have the same timestamp. */
const timestamps = (now: () => number): (() => string) => {
  let [last, text] = [0, ''];
  return () => {
    const time = now();
    if (time !== last) [last, text] = [time, `,"time":"${new Date(time).toISOString()}"`];
    return text;
  };
};

/**
 * The fields of an error that may be logged: libraries attach requests, headers and whole responses to
 * theirs. The stack is logged only for unexpected errors, which have no code of their own.
 */
const errorFields = (thrown: unknown, depth = 0): unknown => {
  if (typeof thrown === 'string') return thrown;
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const fields: Record<string, unknown> = { name: thrown.name, message: thrown.message };
  for (const [key, value] of Object.entries(thrown)) {
    if (shown.has(key) && ['string', 'number', 'boolean'].includes(typeof value)) fields[key] = value;
  }
  if (thrown.cause !== undefined && depth < deepestCause)
    fields['cause'] = errorFields(thrown.cause, depth + 1);
  if (isUnforeseen(thrown)) fields['stack'] = framesOf(thrown);
  return fields;
};

const shown = new Set([
  'code',
  'status',
  'kind',
  'operation',
  'retryAfter',
  'errno',
  'syscall',
  'address',
  'port',
  'path',
]);
const deepestCause = 3;

const isUnforeseen = (error: Error): boolean =>
  ['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError'].includes(error.name) &&
  !('code' in error);

const framesOf = ({ stack = '' }: Error): readonly string[] =>
  stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());
