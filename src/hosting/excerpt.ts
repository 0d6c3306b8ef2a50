import { errorWords } from './error-words.ts';
import type { WireAnswer } from './send-request.ts';

/**
 * The beginning of an answer's body for an error message: one short line without markup, control characters
 * and secrets, whatever the body is.
 */
export const excerpt = ({ body, cut }: WireAnswer, redact: (text: string) => string): string => {
  const text = redact(body.subarray(0, readBytes).toString('utf8'));
  // A cut body may end inside a secret, which would not be recognised, so the end is dropped.
  const whole = cut || body.length > readBytes ? text.slice(0, -maxSecret) : text;
  return oneLine(whole.replace(/<(script|style)\b.*?<\/\1\s*>|<[^>]*>/gis, ' '));
};

/** The words of the error that a JSON answer names, else the beginning of it. */
export const saidIn = (answer: WireAnswer, redact: (text: string) => string): string => {
  const words = answer.body.length > readBytes ? null : errorWords(jsonOf(answer.body));
  return words === null ? excerpt(answer, redact) : oneLine(redact(words));
};

const jsonOf = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
};

/** One line of at most 200 characters, without terminal controls. */
export const oneLine = (text: string): string => {
  const line = text.replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ').trim();
  return line.length > maxLength ? `${Array.from(line).slice(0, maxLength).join('')}…` : line;
};

const readBytes = 8_192;
const maxSecret = 4_096;
const maxLength = 200;
