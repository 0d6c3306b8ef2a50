import type { IncomingMessage } from 'node:http';
import { messageOf } from '../errors.ts';
import { applyControl } from './control.ts';
import type { DataStore } from './data-store.ts';
import { operations, type SandboxOperation } from './operations.ts';
import { Refusal, noParameters, readJson, readParameters } from './request.ts';
import type { OperationAnswer, OperationRequest, Reality } from './realities.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string | Buffer;
}

type Realities = Omit<Reality, 'about'>;

/** Answers any request with JSON, also after errors. */
export const answerTo = async (
  request: IncomingMessage,
  store: DataStore,
  reality: Realities | null,
): Promise<Answer> => {
  const [path = '', query = ''] = (request.url ?? '').split(/\?(.*)/s);
  if (path.startsWith('/api/v1/')) return operate(request, store, { path, query, reality });
  try {
    if (path.startsWith('/sandbox/'))
      return success(await control(request, store, path.slice('/sandbox/'.length)));
    throw new Refusal(404, 'There is no such path.');
  } catch (thrown) {
    return failure(thrown);
  }
};

interface RequestTarget {
  readonly path: string;
  readonly query: string;
  readonly reality: Realities | null;
}

const operate = async (
  request: IncomingMessage,
  store: DataStore,
  { path, query, reality }: RequestTarget,
): Promise<Answer> => {
  let asked: OperationRequest = {
    method: request.method ?? '',
    operation: path.slice(path.lastIndexOf('/') + 1),
    parameters: noParameters,
    url: `http://${request.headers.host}${path}`,
  };
  const answer = await perform().catch(failure);
  try {
    return reality?.answer ? asAnswer(reality.answer(asOperationAnswer(answer), asked)) : answer;
  } catch (thrown) {
    // Realities that do not go together.
    return failure(thrown);
  }

  async function perform(): Promise<Answer> {
    const { operation, id } = findOperation(request.method, path.slice('/api/v1'.length));
    const parameters = await readParameters(request, query, reality?.parameters?.[operation.method]);
    if (!parameters.get('user_token') || !parameters.get('client_token')) {
      throw new Refusal(401, 'Both user_token and client_token are required as data parameters.');
    }
    asked = { ...asked, parameters };
    reality?.check?.(asked);
    const now = Date.now();
    if (operation.method === 'GET') {
      return success(operation.run({ data: await store.read(), parameters, id, now }).body);
    }
    return store.change((before) => {
      const { body, data = before } = operation.run({ data: before, parameters, id, now });
      return { data, answer: success(body) };
    });
  }
};

const asOperationAnswer = ({ status, headers, body }: Answer): OperationAnswer => ({
  status,
  headers,
  body: JSON.parse(body.toString()),
});

const asAnswer = ({ status, headers, body }: OperationAnswer): Answer => ({
  status,
  headers,
  body: body === undefined ? '' : Buffer.isBuffer(body) ? body : JSON.stringify(body),
});

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
