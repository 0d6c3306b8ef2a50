import { EventEmitter, once } from 'node:events';
import { onTestFinished } from 'vitest';
import type { DnsTemplate, TemplateRecord } from '../../src/sandbox/data.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { scriptedServer, type Answer, type SeenRequest } from '../hosting/scripted-server.ts';
import { get, post, send } from '../sandbox/requests.ts';

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
  readonly change: (name: string, body: unknown) => Promise<unknown>;
  readonly template: (id: number) => Promise<DnsTemplate>;
  readonly records: (id: number) => Promise<TemplateRecord[]>;
}

/** What stands between client and service: null where the service itself is to answer. */
export type Meddling = (request: SeenRequest) => Answer | null | Promise<Answer | null>;

/** A hosting service over real HTTP, with the example data. */
export const startService = async (meddle: Meddling = () => null): Promise<Service> => {
  const sandbox = await startSandbox({});
  onTestFinished(() => sandbox.close());
  const { origin } = new URL(sandbox.url);
  const front = await scriptedServer(async (response, request) => {
    const other = await meddle(request);
    if (other) {
      await other(response, request);
      return;
    }
    const { method, path, query, body, headers } = request;
    const type = headers['content-type'];
    const answer = await send(method, origin + path, {
      query: Object.fromEntries(new URLSearchParams(query)),
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
    if (!response.destroyed) await once(response, 'close');
  });
  const template = async (id: number): Promise<DnsTemplate> => {
    const { json } = await get(`${sandbox.url}/dns_templates`);
    return json.find((one: DnsTemplate) => one.id === id);
  };
  return {
    url: front.url,
    env: environment(front.url),
    seen: front.seen,
    writes: () => front.seen.filter(isWrite),
    change: async (name, body) => (await post(`${sandbox.controlUrl}/${name}`, body)).json,
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

const isWrite = ({ method }: SeenRequest): boolean => method !== 'GET';

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
