import type { Diagnostic } from './problem.ts';
import { howToSplit } from './read-yaml.ts';

/** More than 100,000 records, which take a second. */
export const maxFileSize = 16 * 1024 * 1024;

/**
 * The text of a file, with line feeds as line ends and without a byte order mark, or a diagnostic. YAML
 * allows UTF-16 and UTF-32 too; this program reads UTF-8 only.
 */
export const textOf = (bytes: Uint8Array): { text: string } | { diagnostic: Diagnostic } => {
  if (bytes.length > maxFileSize) {
    const message = `the file is larger than ${maxFileSize / 1024 / 1024} MiB: ${howToSplit}`;
    return { diagnostic: { check: 'unreadable', message, line: 1, column: 1 } };
  }
  let text: string;
  try {
    text = utf8.decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    const message = 'this is not UTF-8: save the file as UTF-8';
    return { diagnostic: { check: 'yaml-syntax', message, ...firstInvalid(Buffer.from(bytes)) } };
  }
  const forbidden = text.search(unprintable);
  if (forbidden < 0) return { text };
  const message = unprintableMessage(text, forbidden);
  return { diagnostic: { check: 'yaml-syntax', message, ...placeIn(text, forbidden) } };
};

type Position = Pick<Diagnostic, 'line' | 'column'>;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Characters that YAML 1.2 forbids, and lone carriage returns, which would be read as text. */
// oxlint-disable-next-line no-control-regex
const unprintable = /[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

const unprintableMessage = (text: string, at: number): string => {
  const code = text.charCodeAt(at).toString(16).toUpperCase().padStart(4, '0');
  const name = code === '000D' ? 'a carriage return without a line feed' : `the control character U+${code}`;
  return `${name} is not allowed in a YAML file`;
};

/** Decoding replaces invalid octets, so the first difference is the first invalid octet. */
const firstInvalid = (bytes: Buffer): Position => {
  const decoded = Buffer.from(bytes.toString('utf8'));
  const at = bytes.findIndex((octet, index) => octet !== decoded[index]);
  return placeIn(bytes.subarray(0, at).toString('utf8'), Number.POSITIVE_INFINITY);
};

const placeIn = (text: string, at: number): Position => {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
};

/** The line and column of an offset. */
export const placesIn = (text: string): ((at: number) => Position) => {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (at) => {
    let [line, end] = [1, starts.length + 1];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if (starts[middle - 1]! <= at) line = middle;
      else end = middle;
    }
    return { line, column: at - starts[line - 1]! + 1 };
  };
};
