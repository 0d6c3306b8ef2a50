import type { WireAnswer } from '../network/exchange.ts';

/** How the body of an answer begins: one short line without markup, control characters and secrets, whatever it is. */
export const firstWords = (
  { body, isCut }: Pick<WireAnswer, 'body' | 'isCut'>,
  redact: (text: string) => string,
): string => {
  const text = redact(body.subarray(0, readBytes).toString('utf8'));
  // A cut body may end inside a secret, which would not be recognised, so the end is dropped.
  const whole = isCut || body.length > readBytes ? text.slice(0, -maxSecret) : text;
  return oneLine(whole.replace(/<(script|style)\b.*?<\/\1\s*>|<[^>]*>/gis, ' '));
};

/** One line of at most 200 characters, without terminal controls. */
export const oneLine = (text: string): string => {
  const line = text.replace(/[\p{C}\p{Z}\uFFFD]+/gu, ' ').trim();
  return line.length > maxLength ? `${Array.from(line).slice(0, maxLength).join('')}…` : line;
};

const readBytes = 8_192;
const maxSecret = 4_096;
const maxLength = 200;
