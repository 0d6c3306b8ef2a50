import type { ServerResponse } from 'node:http';
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

/** Sends an answer with the given fault. Resolves when nothing more follows. */
export const giveAnswer = async (
  response: ServerResponse,
  answer: Broken | number,
  truth: { readonly status: number; readonly body: string },
): Promise<void> => {
  if (response.closed) return;
  const ended = new Promise<void>((resolve) => response.once('close', resolve));
  const send = (status: number, body: string, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  switch (answer) {
    case 'drop':
      response.socket?.destroy();
      break;
    case 'reset':
      response.socket?.resetAndDestroy();
      break;
    case 'hang':
      break;
    case 'cut':
      response.writeHead(200, { 'content-length': String(Buffer.byteLength(truth.body)) });
      response.write(truth.body.slice(0, truth.body.length / 2), () => response.socket?.destroy());
      break;
    case 'empty':
      send(200, '');
      break;
    case 'html':
      send(200, '<!doctype html><title>Just a moment</title>', { 'content-type': 'text/html' });
      break;
    case 'wrong-type':
      send(200, JSON.stringify({ id: 'seventeen', dns_template_records: null }));
      break;
    default:
      if (answer === truth.status) send(answer, truth.body);
      else
        send(
          answer,
          JSON.stringify({ error: `status ${answer}` }),
          answer === 429 ? { 'retry-after': '1' } : {},
        );
  }
  await ended;
};
