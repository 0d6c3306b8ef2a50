import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

const mebibyte = 1024 * 1024;
const formLimit = mebibyte;
const jsonLimit = 64 * mebibyte;

/** The data parameters of a request, from query and form body alike. */
export interface DataParameters {
  /** Null when absent. A parameter that is given twice is refused: which one was meant? */
  get(name: string): string | null;
  /** Absent or empty is refused. */
  require(name: string): string;
}

/** Reads the query and, whatever the method, a form body. */
export const readParameters = async (request: IncomingMessage, query: string): Promise<DataParameters> => {
  const body = await readBody(request, formLimit);
  if (body !== '' && !['', 'application/x-www-form-urlencoded'].includes(mediaType(request))) {
    throw new Refusal(415, 'Send the parameters as application/x-www-form-urlencoded.');
  }
  const pairs = new URLSearchParams(query === '' ? body : `${query}&${body}`);
  const get = (name: string): string | null => {
    if (pairs.getAll(name).length > 1) {
      throw new Refusal(400, `Parameter ${name} is given more than once.`);
    }
    return pairs.get(name);
  };
  const require = (name: string): string => {
    const value = get(name);
    if (value === null || value === '') {
      throw new Refusal(422, `Parameter ${name} is required.`);
    }
    return value;
  };
  return { get, require };
};

/** Reads a JSON body. Any other content type is refused: a page in a browser may send those to anyone unasked. */
export const readJson = async (request: IncomingMessage): Promise<unknown> => {
  if (mediaType(request) !== 'application/json') {
    throw new Refusal(415, 'Send the body as application/json.');
  }
  const body = await readBody(request, jsonLimit);
  try {
    return JSON.parse(body);
  } catch {
    throw new Refusal(400, 'The body is not JSON.');
  }
};

const mediaType = (request: IncomingMessage): string =>
  (request.headers['content-type'] ?? '').replace(/;.*/s, '').trim().toLowerCase();

/** What is too long is still read to its end, within reason, so that the sender gets to see the answer. */
const readBody = async (request: IncomingMessage, limit: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
    } else if (size > limit + 16 * mebibyte) {
      break;
    }
  }
  if (size > limit) {
    throw new Refusal(413, `The body is longer than ${limit} bytes.`, { connection: 'close' });
  }
  return Buffer.concat(chunks).toString('utf8');
};
