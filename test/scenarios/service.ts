import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { changed } from './changes.ts';
import { noFault, readFault, type Fault } from './faults.ts';
import type { Nature } from './natures.ts';
import {
  answer,
  operations,
  templatesOf,
  type OperationName,
  type ServiceData,
  type ServiceRequest,
  type StoredRecord,
  type StoredTemplate,
} from './operations.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

export interface SeenWrite {
  readonly operation: 'add' | 'update';
  readonly templateId: number;
  readonly parameters: Readonly<Record<string, string>>;
  /** The record of an update, as it was. */
  readonly before: StoredRecord | null;
}

/** Faults for the next requests of a kind, or one for each of them. */
interface Queue {
  readonly which: string;
  readonly faults: string[];
  readonly isForever: boolean;
}

/**
 * The service of the specification over HTTP, which goes wrong as it is told, and keeps what arrived. `now` is the time by which
 * writes are late and listings are behind.
 */
export const startService = async (now: () => number) => {
  const versions: { readonly at: number; readonly data: ServiceData }[] = [
    { at: 0, data: { templates: [], subdomains: [], lastId: 0 } },
  ];
  const requests: ServiceRequest[] = [];
  const writes: SeenWrite[] = [];
  const natures: Nature[] = [];
  const late: { readonly at: number; readonly request: ServiceRequest }[] = [];
  const queues: Queue[] = [];
  const met = new Set<Queue>();
  const gate = new EventEmitter().setMaxListeners(0);
  let isOver = false;

  const current = (): ServiceData => versions.at(-1)!.data;
  const set = (data: ServiceData, at = now()): void => {
    if (data !== current()) versions.push({ at, data });
  };
  /** With everything that has become effective. */
  const data = (): ServiceData => {
    for (const one of late.filter(({ at }) => at <= now())) {
      late.splice(late.indexOf(one), 1);
      // In a listing that is behind it is seen from then on, whenever that is asked for.
      set(answer(current(), one.request, stores).data, one.at);
    }
    return current();
  };
  const stores = (record: StoredRecord, before: StoredRecord | null, template: StoredTemplate) =>
    natures.reduce<StoredRecord | null>(
      (made, nature) => (made && nature.stores ? nature.stores(made, before, template) : made),
      record,
    );

  const faultOf = (request: ServiceRequest): Fault => {
    const queue = queues.find(({ which, faults }) => faults.length > 0 && isAbout(which, request, data()));
    if (queue) met.add(queue);
    const words = queue?.isForever ? queue.faults[0] : queue?.faults.shift();
    return words === undefined ? noFault : readFault(words);
  };

  /** What is true, or was. */
  const dataShown = (
    { operation }: ServiceRequest,
    { answer: kind }: Fault,
    before: ServiceData,
  ): ServiceData => {
    if (operation !== 'listing') return kind === 'old' ? before : current();
    if (kind === 'old') return (versions.at(-2) ?? versions.at(-1)!).data;
    const lag = Math.max(0, ...natures.map((nature) => nature.lag ?? 0));
    return lag === 0 ? current() : (versions.findLast(({ at }) => at <= now() - lag) ?? versions[0]!).data;
  };

  /** Templates as the specification has them, with what fault and nature make of them. */
  const shown = (request: ServiceRequest, fault: Fault, before: ServiceData): unknown => {
    const { operation, client, id, parameters } = request;
    const written = Number(parameters['record_id'] ?? before.lastId + 1);
    const where = operation === 'listing' ? 'listing' : 'answer';
    const there = dataShown(request, fault, before);
    const templates = templatesOf(client, there)
      .filter((one) => (where === 'listing' ? !fault.without.includes(one.name) : one.id === id))
      .map(({ records, owner, ...one }) => ({
        ...one,
        publicly_available: owner === null,
        subdomains:
          owner === null ? null : there.subdomains.filter(({ templateId }) => templateId === one.id).length,
        dns_template_records: natures
          .reduce((made, { shows }) => shows?.(made, where, written) ?? made, records)
          .filter((record) => !fault.without.includes(`#${record.id}`)),
      }));
    return where === 'listing' ? templates : templates[0];
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (isOver) return void response.destroy();
    const request = await readRequest(incoming);
    if (typeof request === 'string') return send(response, 400, JSON.stringify({ error: request }));
    requests.push(request);
    const fault = faultOf(request);
    for (const line of fault.somebody) set(changed(data(), line, current().templates[0]!.name));
    if (isWrite(request)) writes.push(seenWrite(request, data()));
    if (fault.mishap !== null) {
      isOver = fault.mishap === 'death';
      service.onMishap(fault.mishap);
    }
    if (fault.isHeld) {
      gate.emit('held');
      await once(gate, 'release');
    }
    if (fault.effect !== null && fault.effect > 0) late.push({ at: now() + fault.effect, request });
    const before = data();
    const reply = answer(before, request, stores);
    if (fault.effect === 0) set(reply.data);
    if (fault.answer === 'none') return void response.destroy();
    if (fault.answer === 'empty') return send(response, 200, '');
    if (fault.answer === 'page') return send(response, 200, '<!doctype html><title>One moment</title>');
    if (typeof fault.answer === 'number')
      return send(response, fault.answer, '{"error":"no"}', fault.retryAfter);
    const isOfTemplates = reply.status === 200 && (isWrite(request) || request.operation === 'listing');
    const body = isOfTemplates ? shown(request, fault, before) : reply.body;
    const said = natures.reduce((value, { says }) => says?.(value) ?? value, body);
    send(response, reply.status, JSON.stringify(said), null, fault.answer === 'half');
  };

  const server = createServer((incoming, response) => void serve(incoming, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : null;
  const service = {
    url: `http://127.0.0.1:${port}/api/v1`,
    /** What arrived, whatever became of it, and the writes among it. */
    requests,
    writes,
    /** What is true now. */
    data,
    /** Somebody else's change. */
    change: (edit: (data: ServiceData) => ServiceData): void => set(edit(data())),
    hasNature: (nature: Nature) => void natures.push(nature),
    /** What becomes of the next requests that `which` is about: `add`, `write of www`, `listing`. */
    next: (which: string, faults: readonly string[]) =>
      void queues.push({ which, faults: [...faults], isForever: false }),
    /** The same for each of them from now on. */
    every: (which: string, fault: string): void => {
      for (const queue of queues.filter((one) => one.isForever && one.which === which))
        queues.splice(queues.indexOf(queue), 1);
      if (fault !== 'fine') queues.push({ which, faults: [fault], isForever: true });
    },
    /** What was to become of requests that never came. */
    unmet: () => queues.flatMap((queue) => (queue.isForever && met.has(queue) ? [] : queue.faults)),
    untilHeld: () => once(gate, 'held'),
    /** Lets go what is held. */
    release: () => void gate.emit('release'),
    /** Called when something befalls the client with a request; after its death nothing arrives until `revive`. */
    onMishap: (() => undefined) as (mishap: NonNullable<Fault['mishap']>) => void,
    revive: () => void (isOver = false),
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return service;
};

const isWrite = ({ operation }: ServiceRequest): boolean => operation === 'add' || operation === 'update';

const seenWrite = ({ operation, id, parameters }: ServiceRequest, { templates }: ServiceData): SeenWrite => {
  const records = templates.find((one) => one.id === id)?.records ?? [];
  const before = records.find((one) => String(one.id) === parameters['record_id']) ?? null;
  return { operation: operation === 'add' ? 'add' : 'update', templateId: id, parameters, before };
};

/** `add`, `write of www`, `listing of acme`: of what the request names, or of whose it is. */
const isAbout = (which: string, request: ServiceRequest, data: ServiceData): boolean => {
  const [kind, of] = which.split(' of ');
  const { operation, client, id, parameters } = request;
  if (kind !== operation && kind !== (isWrite(request) ? 'write' : 'read')) return false;
  if (of === undefined) return true;
  const { before } = seenWrite(request, data);
  const template = data.templates.find((one) => one.id === id);
  const names = before ? [before.name ?? '@', parameters['name']] : [parameters['name'] ?? '@'];
  return [client, template?.name, ...names, parameters['type'] ?? before?.type].includes(of);
};

/** A request in the form that the specification wants, or why it is none. */
const readRequest = async (incoming: IncomingMessage): Promise<ServiceRequest | string> => {
  const body = await text(incoming);
  const { method, headers, url = '' } = incoming;
  const [path = '', query = ''] = url.split('?');
  if (!path.startsWith('/api/v1/')) return `no such path: ${path}`;
  const place = path.slice('/api/v1'.length);
  const found = Object.entries(operations).find(([, one]) => one.method === method && one.path.test(place));
  if (!found) return `no such operation: ${method} ${path}`;
  const isPut = method === 'PUT';
  if (isPut ? query !== '' : body !== '') return 'parameters in the wrong place';
  if (isPut && headers['content-type'] !== 'application/x-www-form-urlencoded') return 'no form';
  const pairs = [...new URLSearchParams(isPut ? body : query)];
  const { user_token: user = '', client_token: token = '', ...parameters } = Object.fromEntries(pairs);
  if (pairs.length !== Object.keys(parameters).length + 2) return 'a parameter is missing, or there twice';
  const [operation, { path: pattern }] = found;
  return {
    operation: operation as OperationName,
    id: Number(pattern.exec(place)?.[1] ?? 0),
    parameters,
    client: user === 'user-token' ? (/^token-([a-z]+)(?:-\d+)?$/.exec(token)?.[1] ?? null) : null,
  };
};

const send = (
  response: ServerResponse,
  status: number,
  body: string,
  retryAfter: number | null = null,
  isHalf = false,
): void => {
  response.writeHead(status, {
    'content-type': 'application/json',
    ...(status === 307 ? { location: '/api/v1/dns_templates' } : {}),
    'content-length': Buffer.byteLength(body),
    ...(retryAfter === null ? {} : { 'retry-after': String(retryAfter) }),
  });
  if (isHalf) response.write(body.slice(0, body.length / 2), () => response.destroy());
  else response.end(body);
};
