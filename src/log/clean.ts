import { escapeInJson } from '../lib/escape-control.ts';
import { cleanTexts, scrubber } from '../secrets.ts';
import { parseLine, type Line } from './line.ts';

/** Takes known secrets out of whole lines. Most hold none, and stay as they are. */
export const cleanerOf = (secrets: () => readonly string[]): ((lines: string) => string) => {
  let known = '';
  let scrub = scrubber([]);
  let scrubWords = scrub;
  const cleanLine = (line: string): string => {
    if (line === '' || scrub(line) === line) return line;
    const fields = parseLine(line);
    const { msg, ...others } = fields;
    return JSON.stringify({
      ...cleanTexts(others, scrub, scrubWords),
      ...(typeof msg === 'string' ? { msg: isOfError(fields) ? scrub(msg) : scrubWords(msg) } : {}),
    });
  };
  return (lines) => {
    const now = secrets();
    const key = now.join('\n');
    if (key !== known) {
      [known, scrub] = [key, scrubber(now)];
      scrubWords = scrubber(now.filter((secret) => !isWordLike.test(secret)));
    }
    const clean = scrub(lines) === lines ? lines : lines.split('\n').map(cleanLine).join('\n');
    return escapeInJson(clean);
  };
};

/** What might stand in our messages and keys, which are fixed words and hold nothing from elsewhere. */
const isWordLike = /^[a-z][a-z .,:'-]{0,23}$/i;

/** pino makes a message of an error that came without one. */
const isOfError = ({ msg, err }: Line): boolean =>
  typeof err === 'object' && err !== null && 'message' in err && err.message === msg;
