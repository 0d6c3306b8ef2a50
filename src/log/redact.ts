import { escapeInJson } from '../lib/escape-control.ts';
import { redactTexts, redactor } from '../secrets.ts';

/** Replaces known secrets in whole lines. Most lines have none and stay as they are. */
export const logRedactor = (secrets: () => readonly string[]): ((lines: string) => string) => {
  let known: readonly string[] = [];
  let count = 0;
  let redact = redactor([]);
  let redactWords = redact;
  const redactLine = (line: string): string => {
    if (line === '' || redact(line) === line) return line;
    const fields = parseLine(line);
    const { msg, ...others } = fields;
    return JSON.stringify({
      ...redactTexts(others, redact, redactWords),
      ...(typeof msg === 'string' ? { msg: isOfError(fields) ? redact(msg) : redactWords(msg) } : {}),
    });
  };
  return (lines) => {
    const now = secrets();
    // To compare thousands for each line would take longer than to look for them.
    if (now !== known || now.length !== count) {
      [known, count, redact] = [now, now.length, redactor(now)];
      redactWords = redactor(now.filter((secret) => !isWordLike.test(secret)));
    }
    const redacted = redact(lines) === lines ? lines : lines.split('\n').map(redactLine).join('\n');
    return escapeInJson(redacted);
  };
};

/** A secret that could be a word of our own messages and keys, which are fixed and contain no foreign text. */
const isWordLike = /^[a-z][a-z .,:'-]{0,23}$/i;

/** pino uses the error's message if there is none. */
const isOfError = ({ msg, err }: Line): boolean =>
  typeof err === 'object' && err !== null && 'message' in err && err.message === msg;

/** One line of the log. */
export interface Line extends Readonly<Record<string, unknown>> {
  readonly msg?: unknown;
  readonly err?: unknown;
}

export const parseLine = (line: string): Line => JSON.parse(line);
