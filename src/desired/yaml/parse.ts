import { diagnosticAt, type Diagnostic } from '../diagnostic.ts';
import { howToSplit, placeIn } from '../text.ts';
import { composeYaml } from './composer.ts';
import { readEvents } from './events.ts';
import type { ParsedYaml } from './tree.ts';

/** Characters that the library reads in a second, in any text. */
const maxComposed = 512 * 1024;

/** Separators between values: 100,000 records have a million. Each takes some 200 octets of memory. */
const maxMarks = 2_000_000;

/**
 * Reads YAML 1.2, core schema, no merge keys. Never throws: errors come back as diagnostics. Nearly all files
 * are plain and are read by their events, in a tenth of the time of the library that can explain errors.
 */
export const parseYaml = (source: string): ParsedYaml => {
  const excess = excessIn(source);
  if (excess !== null) return nothingBut(diagnosticAt('yaml-syntax', placeIn(source, excess), tooMuch));
  const read = readEvents(source);
  if ('documents' in read) return { documents: read.documents, diagnostics: [] };
  if (source.length <= maxComposed) return composeYaml(source);
  const { message } = read.declined;
  return nothingBut({ ...read.declined, message: `${message}; ${onlyPlain}` });
};

const nothingBut = (diagnostic: Diagnostic): ParsedYaml => ({ documents: [], diagnostics: [diagnostic] });

const tooMuch = `the file is too large: ${howToSplit}`;

const onlyPlain = `a file of more than 512 KiB has to be plain YAML: fix this, or ${howToSplit}`;

/** The offset of the first separator above the limit. */
const excessIn = (source: string): number | null => {
  if (source.length <= maxMarks) return null;
  let marks = 0;
  for (let at = 0; at < source.length; at += 1) {
    if (!isMark(source, at)) continue;
    marks += 1;
    if (marks > maxMarks) return at;
  }
  return null;
};

const isMark = (source: string, at: number): boolean => {
  switch (source.charAt(at)) {
    case ',':
    case '[':
    case '{':
    case '\n':
      return true;
    case '-':
    case ':':
      return source[at + 1] === ' ';
    default:
      return false;
  }
};
