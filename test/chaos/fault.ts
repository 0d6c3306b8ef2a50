import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import {
  json,
  reset,
  silence,
  status,
  type Answer,
  type SeenRequest as Received,
} from '../wire/scripted-server.ts';
import type { Random } from './random.ts';
import type { SeenRequest } from './wire.ts';

/** The outcome of one request. */
export interface Fault {
  /** A write is stored now, never, or late: just before the listing of that number after it is answered. */
  readonly commit: 'now' | 'never' | number;
  readonly answer: Answering;
}

/** How a request is answered; a number is a status. What can be read and is wrong, test/laws plays. */
export type Answering = 'truth' | Broken | number;

/** Answers that never come, or that are unreadable. */
export type Broken = 'drop' | 'reset' | 'hang' | 'cut' | 'empty' | 'html' | 'wrong-type';

export const noFault: Fault = { commit: 'now', answer: 'truth' };

const broken: readonly [Broken | number, ...(Broken | number)[]] = [
  'drop',
  'reset',
  'hang',
  'cut',
  'empty',
  'html',
  'wrong-type',
  500,
  502,
  503,
];

/** With `later`, some writes are stored after the readings that resolve them. */
export const drawFault = (
  { operation }: SeenRequest,
  random: Random,
  { share, later }: { share: number; later: boolean },
): Fault => {
  if (operation === 'other') return noFault;
  if (operation === 'list')
    return random.chance(share / 2) ? { commit: 'now', answer: random.pick([...broken, 429, 401]) } : noFault;
  if (!random.chance(share)) return noFault;
  if (random.chance(0.8)) return { commit: drawCommit(random, later), answer: random.pick(broken) };
  return {
    commit: random.chance(0.3) ? 'now' : 'never',
    answer: random.pick([400, 401, 403, 404, 409, 422, 429]),
  };
};

/** For a write whose answer is lost. */
export const drawCommit = (random: Random, later: boolean): Fault['commit'] =>
  later && random.chance(0.3) ? 3 + random.below(4) : random.pick<Fault['commit']>(['now', 'never', 1, 2, 2]);

/** What the service says to a request. */
export interface Truth {
  readonly status: number;
  readonly body: string;
}

/** Sends an answer with the given fault. Resolves when nothing more follows. */
export const answerWith = async (
  fault: Broken | number,
  truth: Truth,
  response: ServerResponse,
  request: Received,
): Promise<void> => {
  if (response.closed) return;
  const ended = once(response, 'close');
  await answerOf(fault, truth)(response, request);
  await ended;
};

const answerOf = (fault: Broken | number, { status: code, body }: Truth): Answer => {
  switch (fault) {
    case 'drop':
      return (response) => response.socket?.destroy();
    case 'reset':
      return reset;
    case 'hang':
      return silence;
    case 'cut':
      return (response) => {
        response.writeHead(200, { 'content-length': Buffer.byteLength(body) });
        response.write(body.slice(0, body.length / 2), () => response.socket?.destroy());
      };
    case 'empty':
      return status(200);
    case 'html':
      return status(200, '<!doctype html><title>Just a moment</title>', { 'content-type': 'text/html' });
    case 'wrong-type':
      return json({ id: 'seventeen', dns_template_records: null });
    default:
      if (fault === code) return status(code, body, { 'content-type': 'application/json' });
      return status(fault, `{"error":"status ${fault}"}`, fault === 429 ? { 'retry-after': '1' } : {});
  }
};
