import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Answering, type Fault, giveAnswer, noFault } from './fault.ts';
import { claimInAnswer, claimInListing, isLie } from './lies.ts';
import type { Quirk } from './quirks.ts';
import { createReader } from './request.ts';
import { type Answer, parsed, startUpstream } from './upstream.ts';
import { isWrite, type SeenRequest, type WireTemplate } from './wire.ts';
import { createWitness, type SeenWrite, type Witness } from './witness.ts';

export type Stage = 'arrived' | 'stored' | 'answered';

export interface FaultyServiceOptions {
  readonly faultOf?: (request: SeenRequest) => Fault;
  /** Called at each step of each request; the request continues after it. */
  readonly onStage?: (stage: Stage, request: SeenRequest) => void;
  readonly quirk?: Quirk;
}

export interface FaultyService {
  readonly url: string;
  readonly witness: Witness;
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

/** The embedded service behind a proxy that answers as its faults and quirks say, and witnesses every write. */
export const startFaultyService = async (options: FaultyServiceOptions): Promise<FaultyService> => {
  const { faultOf = () => noFault, onStage = () => undefined, quirk = {} } = options;
  const upstream = await startUpstream();
  const witness = createWitness();
  const faults = new Map<string, number>();
  const current = new Map<number, WireTemplate>();
  /** Each template as the last listing showed it. */
  const listed = new Map<number, WireTemplate>();
  const late: { readonly write: SeenWrite; readonly form: URLSearchParams; left: number }[] = [];
  /** Whether the last listing was wrong: the client, whose processes share their state, gets no two in a row. */
  let wasLie = false;
  const turn = oneAtATime();
  const read = createReader();

  const templates = async (): Promise<WireTemplate[]> => {
    const list = await upstream.templates();
    for (const template of list) current.set(template.id, template);
    return list;
  };

  /** Stores a write, with the quirk. */
  const store = async (write: SeenWrite, form: URLSearchParams): Promise<Answer> => {
    const { operation, templateId } = write.request;
    const before = current.get(templateId);
    if (quirk.refuses?.(write.request, before)) return { status: 422, body: '{"error":"refused"}' };
    for (const [name, value] of Object.entries(quirk.store?.(write.request, before) ?? {}))
      form.set(name, value);
    for (const name of quirk.ignores ?? []) if (operation === 'update') form.delete(name);
    const answer = await upstream.write(templateId, operation === 'update' ? 'update' : 'add', form);
    if (answer.status !== 200) return answer;
    let after: WireTemplate = parsed(answer);
    for (const edit of quirk.alsoChanges?.(write.request, after) ?? [])
      after = await upstream.change('edit-record', edit);
    current.set(templateId, after);
    witness.stored(write, before, after);
    return { status: 200, body: JSON.stringify(after) };
  };

  const answerWrite = async (
    request: SeenRequest,
    form: URLSearchParams,
    { commit, answer }: Fault,
  ): Promise<Answer> => {
    const before = current.get(request.templateId);
    const write = witness.arrived(request, before, typeof commit === 'number' ? commit : 0);
    const stored = commit === 'now' ? await store(write, form) : null;
    if (typeof commit === 'number') late.push({ write, form, left: commit });
    const after = current.get(request.templateId);
    if ((stored && stored.status !== 200) || !before || !after)
      return stored ?? { status: 404, body: '{"error":"no such template"}' };
    const claimed = isLie(answer)
      ? claimInAnswer(answer, request, { before, after, all: [...current.values()] })
      : (quirk.show?.(after, 'answer', before) ?? after);
    return { status: 200, body: JSON.stringify(claimed) };
  };

  /** Stores late writes that are due before a listing. Resolves to whether there were any. */
  const storeLate = async (): Promise<boolean> => {
    for (const one of late) one.left -= 1;
    const due = late.filter(({ left }) => left <= 0);
    late.splice(0, late.length, ...late.filter(({ left }) => left > 0));
    for (const { write, form } of due) await store(write, form);
    return due.length > 0;
  };

  const answerList = async ({ caller }: SeenRequest, answer: Answering): Promise<Answer> => {
    const reaches = answer === 'truth' || isLie(answer);
    const hasStored = reaches && (await storeLate());
    const list = await templates();
    if (isLie(answer) && !hasStored && !wasLie) {
      wasLie = true;
      witness.deceived(caller);
      count(`list: ${answer}`);
      const claimed = list.map((template) => claimInListing(template, answer, listed.get(template.id)));
      return { status: 200, body: JSON.stringify(claimed) };
    }
    if (reaches) {
      wasLie = false;
      witness.learned(caller, null);
      for (const template of list) listed.set(template.id, template);
    }
    const shown = list.map((template) => quirk.show?.(template, 'listing') ?? template);
    return { status: 200, body: JSON.stringify(shown) };
  };

  const count = (kind: string): void => void faults.set(kind, (faults.get(kind) ?? 0) + 1);

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { seen, form, path } = await read(incoming);
    onStage('arrived', seen);
    const fault = faultOf(seen);
    const { answer } = fault;
    const truth = await turn(() => {
      if (seen.operation === 'other') return upstream.get(path);
      return isWrite(seen) ? answerWrite(seen, form, fault) : answerList(seen, answer);
    });
    onStage('stored', seen);
    if (fault !== noFault && (isWrite(seen) || !isLie(answer))) count(nameOf(seen, fault));
    await giveAnswer(response, answer === 'truth' || isLie(answer) ? truth.status : answer, truth);
    if (isWrite(seen) && answer === 'truth') witness.learned(seen.caller, seen.templateId);
    if (isWrite(seen) && isLie(answer)) witness.deceived(seen.caller);
    onStage('answered', seen);
  };

  const server = createServer(
    (incoming, response) => void serve(incoming, response).catch(() => response.destroy()),
  );
  const port = await listen(server);
  await templates();
  return {
    url: `http://127.0.0.1:${port}/api/v1`,
    witness,
    faults,
    awaited: () => late.length,
    change: (name, body) =>
      turn(async () => {
        const template = await upstream.change(name, body);
        witness.changedByHand(current.get(template.id), template);
        current.set(template.id, template);
        listed.set(template.id, template);
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
