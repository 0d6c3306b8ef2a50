import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answering, type Fault, giveAnswer, noFault } from './fault.ts';
import { createReader } from './request.ts';
import { type Answer, parsed, startUpstream } from './upstream.ts';
import { createJudge, type Failure, type Judge } from '../laws/judge.ts';
import type { Pass, Sent } from '../laws/seen.ts';
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

export interface FaultyServiceOptions {
  readonly faultOf?: (request: SeenRequest) => Fault;
  /** Called at each step of each request; the request continues after it. */
  readonly onStage?: (stage: Stage, request: SeenRequest) => void;
  /** The pass that the caller is making; null for one that nobody judges. */
  readonly passOf?: (request: SeenRequest) => Pass | null;
  /** Whether some writes are stored after the readings that resolve them. */
  readonly isLate?: boolean;
}

/** One write that reached the service. */
export interface SeenWrite {
  readonly request: SeenRequest;
  /** The record after the write; null while it is not stored. */
  result: WireRecord | null;
}

export interface FaultyService {
  readonly url: string;
  readonly judge: Judge;
  readonly writes: readonly SeenWrite[];
  /** How often each kind of fault happened. */
  readonly faults: ReadonlyMap<string, number>;
  /** How many lost writes are still to be stored. */
  readonly awaited: () => number;
  /** A change by somebody else. */
  change(name: string, body: unknown): Promise<WireTemplate>;
  /** The true state. */
  templates(): Promise<WireTemplate[]>;
  close(): Promise<void>;
}

/** The embedded service behind a proxy that answers as its faults say, and tells a judge. */
export const startFaultyService = async (options: FaultyServiceOptions): Promise<FaultyService> => {
  const { faultOf = () => noFault, onStage = () => undefined, passOf = () => null, isLate = false } = options;
  const upstream = await startUpstream();
  const start = await upstream.templates();
  const judge = createJudge({
    now: () => performance.now(),
    start: start.map(templateOf),
    slack: 200,
    service: { isKind: !isLate, lag: 0, ownLag: 0 },
    // What is late here is so by listings, which may take longer than `unknownPause`.
    notKept: [/^law [78]:/],
  });
  const writes: SeenWrite[] = [];
  const faults = new Map<string, number>();
  const current = new Map<number, WireTemplate>();
  const late: { readonly write: JudgedWrite; readonly form: URLSearchParams; left: number }[] = [];
  const turn = oneAtATime();
  const read = createReader();

  const templates = async (): Promise<WireTemplate[]> => {
    const list = await upstream.templates();
    for (const template of list) current.set(template.id, template);
    return list;
  };

  const take = (write: JudgedWrite, before: WireTemplate | undefined, after: WireTemplate): void => {
    write.result = resultOf(write.request, before, after);
    if (write.sent) {
      write.sent.landed = 'yes';
      write.sent.recordId = write.result.id;
    }
    judge.changed(after.id, recordsOf(after), write.sent);
  };

  /** Tells the judge of a write that arrived. */
  const arrived = (request: SeenRequest, pass: Pass | null): JudgedWrite => {
    const { templateId } = request;
    const sent: Sent = {
      templateId,
      write: writeOf(request),
      at: performance.now(),
      landed: 'no',
      recordId: null,
      told: 'nothing',
    };
    const write: JudgedWrite = { request, result: null, pass, sent: pass ? sent : null };
    if (pass) judge.decides(pass);
    if (pass) judge.sent(pass, sent);
    const last = writes.at(-1)?.request.caller;
    const isBetween = last !== request.caller && writes.some((one) => one.request.caller === request.caller);
    // One process at a time writes for a client.
    if (pass && isBetween) judge.report(`passes interleaved: ${request.caller} writes after ${last}`);
    writes.push(write);
    return write;
  };

  /** Stores a write. */
  const store = async (write: JudgedWrite, form: URLSearchParams): Promise<Answer> => {
    const { operation, templateId } = write.request;
    const before = current.get(templateId);
    const answer = await upstream.write(templateId, operation === 'update' ? 'update' : 'add', form);
    if (answer.status !== 200) return answer;
    const after = parsed<WireTemplate>(answer);
    current.set(templateId, after);
    take(write, before, after);
    return { status: 200, body: JSON.stringify(after) };
  };

  const answerWrite = async (
    write: JudgedWrite,
    form: URLSearchParams,
    { commit }: Fault,
  ): Promise<Answer> => {
    const { request } = write;
    const before = current.get(request.templateId);
    const stored = commit === 'now' ? await store(write, form) : null;
    if (typeof commit === 'number') late.push({ write, form, left: commit });
    if (typeof commit === 'number' && write.sent) write.sent.landed = 'coming';
    const after = current.get(request.templateId);
    if ((stored && stored.status !== 200) || !before || !after)
      return stored ?? { status: 404, body: '{"error":"no such template"}' };
    return { status: 200, body: JSON.stringify(after) };
  };

  /** Stores late writes that are due before a listing. */
  const storeLate = async (): Promise<void> => {
    for (const one of late) one.left -= 1;
    const due = late.filter(({ left }) => left <= 0);
    late.splice(0, late.length, ...late.filter(({ left }) => left > 0));
    for (const { write, form } of due) {
      const { status } = await store(write, form);
      if (status !== 200 && write.sent) write.sent.landed = 'no';
    }
  };

  const answerList = async (answer: Answering): Promise<Answer> => {
    if (answer === 'truth') await storeLate();
    return { status: 200, body: JSON.stringify(await templates()) };
  };

  const count = (kind: string): void => void faults.set(kind, (faults.get(kind) ?? 0) + 1);

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { seen, form, path } = await read(incoming);
    onStage('arrived', seen);
    const fault = faultOf(seen);
    const { answer } = fault;
    const pass = passOf(seen);
    if (pass) judge.asks(pass);
    const write = isWrite(seen) ? arrived(seen, pass) : null;
    const truth = await turn(() => {
      if (seen.operation === 'other') return upstream.get(path);
      return write ? answerWrite(write, form, fault) : answerList(answer);
    });
    onStage('stored', seen);
    if (fault !== noFault) count(nameOf(seen, fault));
    const status = answer === 'truth' ? truth.status : answer;
    if (pass) tellJudge(pass, write, status, truth);
    await giveAnswer(response, status, truth);
    onStage('answered', seen);
  };

  /** What the client is about to be told. */
  const tellJudge = (
    pass: Pass,
    write: JudgedWrite | null,
    status: Parameters<typeof giveAnswer>[1],
    truth: Answer,
  ): void => {
    if (typeof status !== 'number') return;
    // The service refuses this write with 403, and the client with it on a reading.
    const failure = status === 403 && write ? 'refused' : failures[status];
    if (failure) judge.failed(pass, failure, write !== null);
    if (failure && write?.sent) write.sent.told = failure === 'refused' ? 'refused' : 'not-sent';
    if (status !== 200) return;
    if (!write) return judge.listed(pass, parsed<WireTemplate[]>(truth).map(templateOf));
    if (!write.sent) return;
    write.sent.told = 'an answer';
    judge.answered(pass, write.sent, templateOf(parsed<WireTemplate>(truth)));
  };

  const server = createServer(
    (incoming, response) => void serve(incoming, response).catch(() => response.destroy()),
  );
  const port = await listen(server);
  await templates();
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    judge,
    writes,
    faults,
    awaited: () => late.length,
    change: (name, body) =>
      turn(async () => {
        const template = await upstream.change(name, body);
        judge.changed(template.id, recordsOf(template), null);
        current.set(template.id, template);
        return template;
      }),
    templates: () => turn(templates),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await upstream.close();
    },
  };
};

/** As the judge knows it; `sent` is null where nobody judges the caller. */
interface JudgedWrite extends SeenWrite {
  readonly pass: Pass | null;
  readonly sent: Sent | null;
}

const failures: Readonly<Record<number, Failure | undefined>> = {
  400: 'refused',
  401: 'unauthorized',
  403: 'unauthorized',
  404: 'refused',
  409: 'refused',
  422: 'refused',
  429: 'rate-limited',
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

const oneAtATime = (): (<T>(task: () => Promise<T>) => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
};

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return address.port;
};
