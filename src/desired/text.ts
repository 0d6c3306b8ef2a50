import { diagnosticAt, type Diagnostic, type Position } from './diagnostic.ts';

/** A template cannot be split into two template files. */
export const howToSplit = 'move records to fragments, files named `_….yaml` that it names under `include`';

/** More than 100,000 records, which take a second. */
export const maxFileSize = 16 * 1024 * 1024;

/**
 * The text of a file, with line feeds as line ends and without a byte order mark, or a diagnostic. YAML
 * allows UTF-16 and UTF-32 too; this program reads UTF-8 only.
 */
export const textOf = (bytes: Uint8Array): { text: string } | { diagnostic: Diagnostic } => {
  if (bytes.length > maxFileSize) {
    const message = `the file is larger than ${maxFileSize / 1024 / 1024} MiB: ${howToSplit}`;
    return { diagnostic: diagnosticAt('unreadable', { line: 1, column: 1 }, message) };
  }
  let text: string;
  try {
    text = utf8.decode(bytes).replaceAll('\r\n', '\n');
  } catch {
    return {
      diagnostic: diagnosticAt(
        'yaml-syntax',
        firstInvalid(Buffer.from(bytes)),
        'this is not UTF-8: save the file as UTF-8',
      ),
    };
  }
  const forbidden = text.search(unprintable);
  if (forbidden < 0) return { text };
  return {
    diagnostic: diagnosticAt('yaml-syntax', placeIn(text, forbidden), unprintableMessage(text, forbidden)),
  };
};

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

export const placeIn = (text: string, at: number): Position => {
  const before = text.slice(0, at);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
};
