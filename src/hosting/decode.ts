import { promisify } from 'node:util';
import { brotliDecompress, unzip } from 'node:zlib';
import type { WireAnswer } from './send-request.ts';

/**
 * The answer with its body decompressed: some services compress without being asked to. Null if it cannot be, or is
 * larger than `maxSize` bytes.
 */
export const decoded = async (answer: WireAnswer, maxSize: number): Promise<WireAnswer | null> => {
  const coding = String(answer.headers['content-encoding'] ?? '').toLowerCase();
  if (coding === '' || coding === 'identity' || answer.body.length === 0) return answer;
  // The beginning of an error's body.
  if (answer.cut) return { ...answer, body: Buffer.alloc(0) };
  const decompress = decoders[coding];
  if (decompress === undefined) return null;
  try {
    return { ...answer, body: await decompress(answer.body, { maxOutputLength: maxSize }) };
  } catch {
    return null;
  }
};

type Decompress = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: promisify(unzip),
  'x-gzip': promisify(unzip),
  deflate: promisify(unzip),
  br: promisify(brotliDecompress),
};
