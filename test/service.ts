import { EventEmitter, once } from 'node:events';
import { shownTemplate, templateOf, type TemplateRecord } from '../src/sandbox/operations.ts';
import { answerTo, memoryStore } from '../src/sandbox/sandbox.ts';
import { json, scriptedServer, type Answer, type SeenRequest } from './wire/scripted-server.ts';
import { changeOf, type ShownTemplate } from './sandbox/changes.ts';

/** The tokens that the program under test is given; a service in its place would know them. */
export const userToken = 'user token/1+&=%41';
export const clientToken = 'client-tökén"2';

export interface Service {
  readonly url: string;
  /** What a program needs to use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Every request that arrived, in order. */
  readonly seen: readonly SeenRequest[];
  readonly writes: () => SeenRequest[];
  /** A change behind the client's back. */
  readonly change: (name: string, body: object) => Promise<ShownTemplate>;
  /** From now on the records of subdomains, which follow their templates, are edited before they are shown. */
  readonly drift: (edit: RecordEdit) => void;
  readonly template: (id: number) => Promise<ShownTemplate>;
  readonly records: (id: number) => Promise<TemplateRecord[]>;
}

export type RecordEdit = (subdomain: string, records: readonly DerivedRecord[]) => readonly DerivedRecord[];

export interface DerivedRecord extends TemplateRecord {
  readonly dns_template_record_id: number | null;
}

/** What stands between client and service: null where the service itself is to answer. */
export type Meddling = (request: SeenRequest) => Answer | null | Promise<Answer | null>;

/** A hosting service over real HTTP, with the example data. */
export const startService = async (meddle: Meddling = () => null): Promise<Service> => {
  const store = memoryStore();
  let edits: readonly RecordEdit[] = [];
  const front = await scriptedServer(async (response, request) => {
    const other = await meddle(request);
    if (other) {
      await other(response, request);
      return;
    }
    const { method, path, query, body, headers } = request;
    const { status, answer } = answerTo(store, { method, url: `${path}?${query}`, headers }, body);
    const subdomain = path.endsWith('/dns_records') ? new URLSearchParams(query).get('subdomain') : null;
    const isEdited = subdomain !== null && status === 200;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- those of a subdomain
    const records = answer as DerivedRecord[];
    await json(
      isEdited ? edits.reduce((known, edit) => [...edit(subdomain, known)], records) : answer,
      status,
    )(response, request);
    if (!response.destroyed) await once(response, 'close');
  });
  const template = async (id: number): Promise<ShownTemplate> => {
    const data = store.read();
    return shownTemplate(data, templateOf(data, id));
  };
  return {
    url: front.url,
    env: environment(front.url),
    seen: front.seen,
    writes: () => front.seen.filter(isWrite),
    change: async (name, body) => changeOf(store, name, body),
    drift: (edit) => void (edits = [...edits, edit]),
    template,
    records: async (id) => (await template(id)).dns_template_records,
  };
};

/** The same, where each write, or what else is to be held, waits for `release`; `held` resolves when the first has come. */
export const startHoldingService = async (isHeld = isWrite) => {
  const gate = new EventEmitter().setMaxListeners(0);
  const held = once(gate, 'held');
  const released = once(gate, 'released');
  const service = await startService(async (request) => {
    if (isHeld(request)) {
      gate.emit('held');
      await released;
    }
    return null;
  });
  return { service, held, release: () => void gate.emit('released') };
};

const isWrite = ({ method }: SeenRequest): boolean => method === 'PUT';

export const environment = (url: string): Record<string, string> => ({
  DNS_SYNC_BASE_URL: url,
  DNS_SYNC_USER_TOKEN: userToken,
  DNS_SYNC_CLIENT_TOKEN: clientToken,
});

/** The parameters of a request, wherever they stood, without the tokens. */
export const parametersOf = ({ query, body }: SeenRequest): Record<string, string> => {
  const {
    user_token: _,
    client_token: __,
    ...others
  } = Object.fromEntries([...new URLSearchParams(query), ...new URLSearchParams(body)]);
  return others;
};
