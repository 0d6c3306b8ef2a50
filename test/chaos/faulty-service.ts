import { answerTo, memoryStore } from '../../src/sandbox/sandbox.ts';
import { createJudge, type Failure, type Judge } from '../laws/judge.ts';
import type { Pass, Sent } from '../laws/seen.ts';
import { changeOf } from '../sandbox/changes.ts';
import { scriptedServer, type SeenRequest as Received } from '../wire/scripted-server.ts';
import { answerWith, noFault, type Fault, type Truth } from './fault.ts';
import {
  isWrite,
  recordsOf,
  templateOf,
  writeOf,
  type SeenRequest,
  type WireRecord,
  type WireTemplate,
} from './wire.ts';

export type Stage = 'arrived' | 'stored' | 'answered';

interface FaultyServiceOptions {
  readonly faultOf: (request: SeenRequest) => Fault;
  /** Called at each step of each request; the request continues after it. */
  readonly onStage: (stage: Stage, request: SeenRequest) => void;
  /** The pass that the caller is making; null for a reading with its tokens in a body, which follows a denied one. */
  readonly passOf: (request: SeenRequest) => Pass | null;
  /** Whether some writes are stored after the readings that resolve them. */
  readonly isLate: boolean;
}

/** One write that reached the service, and as the judge knows it. */
interface SeenWrite {
  readonly request: SeenRequest;
  readonly sent: Sent;
  /** The record after the write; null while it is not stored. */
  result: WireRecord | null;
}

export type FaultyService = Awaited<ReturnType<typeof startFaultyService>>;

/** The embedded service, which answers as its faults say, and tells a judge. It is closed when the test ends. */
export const startFaultyService = async ({ faultOf, onStage, passOf, isLate }: FaultyServiceOptions) => {
  const data = memoryStore();
  const ask = (method: string, url: string, body = ''): Truth => {
    const { status, answer } = answerTo(data, { method, url, headers: {} }, body);
    return { status, body: JSON.stringify(answer) };
  };
  /** The true state. */
  const templates = (): WireTemplate[] =>
    parsed(ask('GET', '/api/v1/dns_templates?user_token=u&client_token=c'));
  const judge: Judge = createJudge({
    now: () => performance.now(),
    start: templates().map(templateOf),
    slack: 200,
    service: { isKind: !isLate, lag: 0, ownLag: 0, delay: 0 },
    // What is late here is so by listings, which may take longer than `unknownPause`.
    notKept: [/^law [78]:/],
  });
  const writes: SeenWrite[] = [];
  const faults = new Map<string, number>();
  const late: { readonly write: SeenWrite; readonly received: Received; left: number }[] = [];
  const ordinals = new Map<string, number>();

  /** Tells the judge of a write that arrived. */
  const arrived = (request: SeenRequest, pass: Pass): SeenWrite => {
    const sent: Sent = {
      templateId: request.templateId,
      write: writeOf(request),
      at: performance.now(),
      landed: 'no',
      recordId: null,
      told: 'nothing',
    };
    const write: SeenWrite = { request, sent, result: null };
    judge.decides(pass);
    judge.sent(pass, sent);
    const last = writes.at(-1)?.request.caller;
    const isBetween = last !== request.caller && writes.some((one) => one.request.caller === request.caller);
    // One process at a time writes for a client.
    if (isBetween) judge.report(`passes interleaved: ${request.caller} writes after ${last}`);
    writes.push(write);
    return write;
  };

  const store = (write: SeenWrite, { method, path, body }: Received): Truth => {
    const before = templates().find(({ id }) => id === write.request.templateId);
    const truth = ask(method, path, body);
    if (truth.status !== 200) return truth;
    const after = parsed<WireTemplate>(truth);
    write.result = resultOf(write.request, before, after);
    write.sent.landed = 'yes';
    write.sent.recordId = write.result.id;
    judge.changed(after.id, recordsOf(after), write.sent);
    return truth;
  };

  const answerWrite = (write: SeenWrite, received: Received, { commit }: Fault): Truth => {
    const stored = commit === 'now' ? store(write, received) : null;
    if (stored) return stored;
    if (typeof commit === 'number') {
      late.push({ write, received, left: commit });
      write.sent.landed = 'coming';
    }
    const template = templates().find(({ id }) => id === write.request.templateId);
    return template
      ? { status: 200, body: JSON.stringify(template) }
      : { status: 404, body: '{"error":"no such template"}' };
  };

  /** Stores late writes that are due before a listing. */
  const storeLate = (): void => {
    for (const one of late) one.left -= 1;
    const due = late.filter(({ left }) => left <= 0);
    late.splice(0, late.length, ...late.filter(({ left }) => left > 0));
    for (const { write, received } of due) {
      const { status } = store(write, received);
      if (status !== 200) write.sent.landed = 'no';
    }
  };

  /** What the client is about to be told. */
  const tellJudge = (pass: Pass, write: SeenWrite | null, status: Fault['answer'], truth: Truth): void => {
    if (typeof status !== 'number') return;
    // The service refuses this write with 403, and the client with it on a reading.
    const failure = status === 403 && write ? 'refused' : failures[status];
    if (failure) judge.failed(pass, failure, write !== null);
    if (failure && write) write.sent.told = failure === 'refused' ? 'refused' : 'not-sent';
    if (status !== 200) return;
    if (!write) return judge.listed(pass, parsed<WireTemplate[]>(truth).map(templateOf));
    write.sent.told = 'an answer';
    judge.answered(pass, write.sent, templateOf(parsed<WireTemplate>(truth)));
  };

  const server = await scriptedServer(async (response, received) => {
    const seen = seenAs(received, ordinals);
    const pass = passOf(seen);
    if (pass === null) return answerWith(401, { status: 401, body: '{}' }, response, received);
    onStage('arrived', seen);
    const fault = faultOf(seen);
    judge.asks(pass);
    const write = isWrite(seen) ? arrived(seen, pass) : null;
    if (!write && fault.answer === 'truth') storeLate();
    const { method, path, query } = received;
    const truth = write ? answerWrite(write, received, fault) : ask(method, `${path}?${query}`);
    onStage('stored', seen);
    if (fault !== noFault) faults.set(nameOf(seen, fault), (faults.get(nameOf(seen, fault)) ?? 0) + 1);
    const status = fault.answer === 'truth' ? truth.status : fault.answer;
    tellJudge(pass, write, status, truth);
    await answerWith(status, truth, response, received);
    onStage('answered', seen);
  });
  return {
    url: server.url,
    judge,
    writes,
    /** How often each kind of fault happened. */
    faults,
    /** How many lost writes are still to be stored. */
    awaited: () => late.length,
    /** A change by somebody else. */
    change: (name: string, body: object): WireTemplate => {
      const template = changeOf(data, name, body);
      judge.changed(template.id, recordsOf(template), null);
      return template;
    },
    templates,
    close: server.close,
  };
};

const failures: Readonly<Record<number, Failure | undefined>> = {
  400: 'refused',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'refused',
  409: 'refused',
  422: 'refused',
  429: 'rate-limited',
};

/** Numbers the requests of one caller and kind. */
const seenAs = ({ method, path, query, body }: Received, ordinals: Map<string, number>): SeenRequest => {
  const form = new URLSearchParams(method === 'PUT' ? body : query);
  const { user_token: caller = '', client_token: _, ...parameters } = Object.fromEntries(form);
  const [, id = '0', action] = /^\/api\/v1\/dns_templates\/(\d+)\/(add|update)_record$/.exec(path) ?? [];
  const written = action === 'update' ? 'update' : action === 'add' ? 'add' : null;
  const operation = written ?? (path === '/api/v1/dns_templates' ? 'list' : 'other');
  const kind = `${caller} ${operation} ${id}`;
  const ordinal = ordinals.get(kind) ?? 0;
  ordinals.set(kind, ordinal + 1);
  return { caller, operation, templateId: Number(id), parameters, ordinal };
};

/** The embedded service's own answers are right. */
const parsed = <T>({ status, body }: Truth): T => {
  if (status !== 200) throw new Error(`the embedded service answered ${status}: ${body}`);
  const value: T = JSON.parse(body);
  return value;
};

const resultOf = (
  { operation, parameters }: SeenRequest,
  before: WireTemplate | undefined,
  after: WireTemplate,
): WireRecord => {
  const old = new Set(before?.dns_template_records.map(({ id }) => id));
  const isResult = ({ id }: WireRecord): boolean =>
    operation === 'update' ? String(id) === parameters['record_id'] : !old.has(id);
  const result = after.dns_template_records.find(isResult);
  if (!result)
    throw new Error(`the embedded service stored no ${operation} of ${JSON.stringify(parameters)}`);
  return result;
};

const nameOf = ({ operation }: SeenRequest, { commit, answer }: Fault): string =>
  operation === 'list'
    ? `list: ${answer}`
    : `${operation}: ${answer}, stored ${typeof commit === 'number' ? `late (${commit})` : commit}`;
