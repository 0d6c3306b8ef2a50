import type { IncomingMessage } from 'node:http';
import { messageOf } from '../errors.ts';
import { applyControl } from './control.ts';
import type { DataStore } from './data-store.ts';
import { operations } from './operations.ts';
import type { SandboxOperation } from './operations.ts';
import { Refusal } from './refusal.ts';
import { readJson, readParameters } from './request.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string | Buffer;
}

/** Answers any request with JSON, also after errors. */
export const answerTo = async (request: IncomingMessage, store: DataStore): Promise<Answer> => {
  try {
    const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
    if (path.startsWith('/sandbox/')) {
      return success(await control(request, store, path.slice('/sandbox/'.length)));
    }
    if (path.startsWith('/api/v1/')) {
      return success(await operate(request, store, path.slice('/api/v1'.length), query));
    }
    throw new Refusal(404, 'There is no such path.');
  } catch (thrown) {
    return failure(thrown);
  }
};

const operate = async (
  request: IncomingMessage,
  store: DataStore,
  path: string,
  query: string,
): Promise<string | Buffer> => {
  const { operation, id } = findOperation(request.method, path);
  const parameters = await readParameters(request, query);
  if (!parameters.get('user_token') || !parameters.get('client_token')) {
    throw new Refusal(401, 'Both user_token and client_token are required as data parameters.');
  }
  const now = Date.now();
  if (operation.method === 'GET') {
    return operation.run({ data: await store.read(), parameters, id, now }).body;
  }
  return store.change((before) => {
    const { body, data = before } = operation.run({ data: before, parameters, id, now });
    return { data, answer: body };
  });
};

const findOperation = (
  method: string | undefined,
  path: string,
): { operation: SandboxOperation; id: number } => {
  const matching = operations.filter((operation) => operation.path.test(path));
  const operation = matching.find((candidate) => candidate.method === method);
  if (operation !== undefined) {
    return { operation, id: Number(operation.path.exec(path)?.[1]) };
  }
  const [other] = matching;
  throw other === undefined
    ? new Refusal(404, 'There is no such path.')
    : new Refusal(405, `Ask for this path with ${other.method}.`, { allow: other.method });
};

/**
 * A web page cannot get here: JSON to another origin needs a preflight, which is not answered, and DNS
 * rebinding fails since only loopback host names are accepted.
 */
const control = async (request: IncomingMessage, store: DataStore, name: string): Promise<string> => {
  if (request.method !== 'POST') {
    throw new Refusal(405, 'Ask for this path with POST.', { allow: 'POST' });
  }
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i.test(request.headers.host ?? '')) {
    throw new Refusal(403, 'Changes by hand are only taken under a loopback host name.');
  }
  const body = await readJson(request);
  const answer = await store.change((data) => applyControl(data, name, body, Date.now()));
  return JSON.stringify(answer);
};

const success = (body: string | Buffer): Answer => ({ status: 200, headers: {}, body });

const failure = (thrown: unknown): Answer => ({
  status: thrown instanceof Refusal ? thrown.status : 500,
  headers: thrown instanceof Refusal ? thrown.headers : {},
  body: JSON.stringify({ error: messageOf(thrown) }),
});
