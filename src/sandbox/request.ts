import type { IncomingMessage } from 'node:http';

const mebibyte = 1024 * 1024;
const formLimit = mebibyte;
const jsonLimit = 64 * mebibyte;

/** The data parameters of a request, from query and form body. */
export interface DataParameters {
  /** Null if absent. Refuses a parameter that is given twice. */
  get(name: string): string | null;
  /** Refuses an absent or empty parameter. */
  require(name: string): string;
}

export type ParameterPlace = 'query' | 'form' | 'json';

/** Reads the query and, for any method, a form body; or one place only. */
export const readParameters = async (
  request: IncomingMessage,
  query: string,
  place: ParameterPlace | null = null,
): Promise<DataParameters> => {
  if (place === 'json') return jsonParameters(await readJson(request));
  const body = await readBody(request, formLimit);
  if (body !== '' && !['', 'application/x-www-form-urlencoded'].includes(mediaType(request))) {
    throw new Refusal(415, 'Send the parameters as application/x-www-form-urlencoded.');
  }
  const parts = [place === 'form' ? '' : query, place === 'query' ? '' : body];
  return parametersIn(new URLSearchParams(parts.filter((part) => part !== '').join('&')));
};

const jsonParameters = (body: unknown): DataParameters =>
  parametersIn(
    new URLSearchParams(
      Object.entries(Object(body)).map(([name, value]): [string, string] => [name, String(value)]),
    ),
  );

const parametersIn = (pairs: URLSearchParams): DataParameters => {
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

/** Of a request that could not be read. */
export const noParameters: DataParameters = parametersIn(new URLSearchParams());

/**
 * Reads a JSON body. Other content types are refused, since web pages may send those to any origin without a
 * preflight.
 */
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

/** A body that is too long is still read, up to a limit, so that the sender sees the answer. */
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

/** An error answer. The message goes to the caller, so it must not repeat anything that may be a token. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.headers = headers;
  }
}
