import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { HostingError } from '../../src/hosting/errors.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import { createJudge } from '../laws/judge.ts';
import { faithful } from '../laws/nature.ts';
import { meddle } from '../laws/people.ts';
import type { Pass, Sent, Write } from '../laws/seen.ts';
import { createService, type OwnedTemplate, type Weather } from '../laws/service.ts';
import { createWorld, drawing, type Driver } from '../laws/world.ts';
import {
  json,
  reset,
  scriptedServer,
  silence,
  status,
  type Answer,
  type SeenRequest,
} from '../wire/scripted-server.ts';
import { delegating, type Random } from './random.ts';
import type { Random as Numbers } from '../laws/random.ts';

export type Stage = 'arrived' | 'stored' | 'answered';

/** Who asks: one process of the program. */
export interface Caller {
  readonly caller: string;
  /** The pass that it is making. */
  readonly judged: Pass;
  /** Or stopped for a while: what it was told meanwhile comes too late to be heard. */
  isKilled: boolean;
}

interface FrontOptions<Run extends Caller> {
  readonly random: Random;
  readonly start: readonly OwnedTemplate[];
  readonly weather: Weather;
  /** Whether some writes are stored after the readings that settle them. */
  readonly isLate: boolean;
  /** By its user token; undefined for a reading with its tokens in a body, which follows a denied one. */
  readonly runOf: (token: string | null) => Run | undefined;
  /** Called at each step of each request; the request continues after it. */
  readonly onStage: (stage: Stage, run: Run, isWrite: boolean) => void;
}

export type Front = Awaited<ReturnType<typeof startFront>>;

/** The simulated service over HTTP. What becomes of a request depends on who makes it, and which of its kind it is. */
export const startFront = async <Run extends Caller>(options: FrontOptions<Run>) => {
  const { start, weather, isLate, runOf, onStage } = options;
  let asking: Run | null = null;
  let drawn: Numbers = options.random;
  const random = delegating(() => drawn);
  const drawFrom = drawing(random);
  const counts = new Map<string, number>();
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  // Over HTTP nobody can tell that a request was never sent; and nobody hears the answer to a process that was killed.
  const choose: Driver['choose'] = (what, all, probability) => {
    const isOutcome = all.some((one) => isLoss(one));
    const isUnheard = isOutcome && asking?.isKilled === true;
    const possible = all.filter((one) => one !== 'not-sent' && (!isUnheard || one === null || isLoss(one)));
    const chosen = drawFrom.choose(what, possible, isUnheard ? 1 : probability);
    if (isOutcome && chosen !== null) count(`fault, write: ${String(chosen)}`);
    return chosen;
  };
  // A late write is so many listings late.
  const inListings = createWorld(random, false, { ...drawFrom, choose });
  /** When the request that is answered arrived. */
  let arrivedAt = performance.now();
  const world = {
    ...inListings,
    get time() {
      return asking ? arrivedAt : performance.now();
    },
  };
  const judge = createJudge({
    now: () => world.time,
    start,
    slack: 200,
    service: { isKind: !isLate, lag: 0, ownLag: 0, delay: 0 },
    // What is late here is so by listings, which may take longer than `unknownPause`.
    notKept: [/^law [78]:/],
  });
  const sent: { readonly caller: string; readonly write: Sent }[] = [];
  const nature = { ...faithful, isKind: !isLate, delay: isLate ? 6 : 2 };
  const heeding = {
    ...judge,
    sent: (pass: Pass, write: Sent): void => {
      const { caller, isKilled } = asking!;
      if (!isKilled) judge.decides(pass);
      judge.sent(pass, write);
      const last = sent.at(-1)?.caller;
      // One process at a time writes for a client.
      if (last !== caller && sent.some((one) => one.caller === caller))
        judge.report(`passes interleaved: ${caller} writes after ${last}`);
      sent.push({ caller, write });
    },
  };
  const service = createService(world, nature, weather, start, heeding, () => asking!.judged);

  const ordinals = new Map<string, number>();
  /** What it is told, by chances of its own. */
  const answerOf = (run: Run, request: SeenRequest, write: Written | null): Answer => {
    const kind = `${run.caller} ${write ? `${write.templateId} ${write.write.action}` : request.path}`;
    const ordinal = ordinals.get(kind) ?? 0;
    ordinals.set(kind, ordinal + 1);
    [asking, drawn, arrivedAt] = [run, options.random.fork(`${kind} ${ordinal}`), performance.now()];
    try {
      if (!run.isKilled) judge.asks(run.judged);
      if (write) return json(wireTemplate(service.write(write.templateId, write.write)));
      world.advance(1);
      return json(service.list('a').map(wireTemplate));
    } catch (error) {
      if (!(error instanceof HostingError)) throw error;
      if (!write) count(`fault, listing: ${error.kind}`);
      return failureOf(error, drawn);
    } finally {
      [asking, drawn] = [null, options.random];
    }
  };

  const server = await scriptedServer(async (response, request) => {
    const parameters = new URLSearchParams(request.method === 'PUT' ? request.body : request.query);
    const run = runOf(parameters.get('user_token'));
    if (!run) return answered(status(401, '{}'), response, request);
    // What a daemon said before it asked, as that a pass begins, is heard first: two turns read all of a pipe.
    for (const _ of [1, 2]) await setImmediate();
    const write = writeOf(request, parameters);
    onStage('arrived', run, write !== null);
    const answer = answerOf(run, request, write);
    onStage('stored', run, write !== null);
    await answered(answer, response, request);
    onStage('answered', run, write !== null);
  });
  return {
    url: server.url,
    judge,
    counts,
    sent,
    /** How many lost writes are still to be stored. */
    awaited: () => sent.filter(({ write }) => write.landed === 'coming').length,
    /** Somebody else does something to a template. */
    meddle: (templateId: number) => meddle(world, service, templateId),
    close: server.close,
  };
};

const isLoss = (outcome: unknown): boolean => typeof outcome === 'string' && outcome.startsWith('lost-');

interface Written {
  readonly templateId: number;
  readonly write: Write;
}

const writeOf = ({ path }: SeenRequest, parameters: URLSearchParams): Written | null => {
  const [, id, action] = /^\/api\/v1\/dns_templates\/(\d+)\/(add|update)_record$/.exec(path) ?? [];
  if (id === undefined) return null;
  const number = (key: string): number | null => (parameters.has(key) ? Number(parameters.get(key)) : null);
  const [name, content] = [parameters.get('name'), parameters.get('content')];
  const numbers = { priority: number('priority'), ttl: number('ttl') };
  const type = parameters.get('type') ?? '';
  return {
    templateId: Number(id),
    write:
      action === 'add'
        ? { action, record: { type, name, content: content ?? '', ...numbers } }
        : { action: 'update', change: { recordId: number('record_id') ?? 0, name, content, ...numbers } },
  };
};

const wireTemplate = ({ id, name, publiclyAvailable, subdomains, records }: ActualTemplate): object => ({
  id,
  name,
  publicly_available: publiclyAvailable,
  subdomains,
  dns_template_records: records,
});

/** An error of the service as a client meets it: without a status, an answer never comes, or nobody can read it. */
const failureOf = ({ kind, status: code }: HostingError, random: Numbers): Answer => {
  const isUnreadable = kind === 'bad-answer' || (code === null && random.chance(0.5));
  if (isUnreadable) return random.pick(unreadable);
  if (code === null) return random.pick(silent);
  return status(code, `{"error":"status ${code}"}`, code === 429 ? { 'retry-after': '1' } : {});
};

const silent: readonly Answer[] = [(response) => response.socket?.destroy(), reset, silence];

const unreadable: readonly Answer[] = [
  (response) => {
    response.writeHead(200, { 'content-length': 1_000 });
    response.write('[{"id":', () => response.socket?.destroy());
  },
  status(200),
  status(200, '<!doctype html><title>Just a moment</title>', { 'content-type': 'text/html' }),
  json({ id: 'seventeen', dns_template_records: null }),
];

/** Resolves when nothing more follows. */
const answered = async (answer: Answer, response: ServerResponse, request: SeenRequest): Promise<void> => {
  if (response.closed) return;
  const ended = once(response, 'close');
  await answer(response, request);
  await ended;
};
