import { createHash } from 'node:crypto';
import type { FileContent } from '../desired/source-file.ts';
import { parseFile } from '../desired/parse-file.ts';
import { maxFileSize } from '../desired/text.ts';
import { readBeginning } from '../regular-file.ts';
import type { ScannedFile } from './scan.ts';

/** Reads at most one byte more than allowed. Throws if it is not that file any more. */
export const bytesOf = ({ real, identity }: ScannedFile): Promise<Buffer> =>
  readBeginning(real, maxFileSize + 1, identity);

/** By which a content is found again; a template and a fragment of the same text are two. */
export const contentHash = (bytes: Uint8Array, isFragment: boolean): string =>
  createHash('sha256')
    .update(isFragment ? '_' : ' ')
    .update(bytes)
    .digest('base64');

/** A file with includes has to be parsed to find them; other files can wait. */
export const contentOf = async (hash: string, bytes: Buffer, isFragment: boolean): Promise<FileContent> =>
  isFragment || mayInclude(bytes)
    ? { hash, parsed: await parseFile(bytes, isFragment) }
    : { hash, parsed: { documents: [], diagnostics: [] }, bytes };

/** Letters of a key can also be written as escapes, `\\x69`. */
const mayInclude = (bytes: Buffer): boolean =>
  ['include', '\\x', '\\u', '\\U', '\\\n', '\\\r'].some((text) => bytes.includes(text));
