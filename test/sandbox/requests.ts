import { request, type OutgoingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body; each test knows what it asked for. */
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
}

export interface Sent {
  readonly query?: Readonly<Record<string, string>>;
  readonly form?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export const tokens = { user_token: 'user-secret-1', client_token: 'client-secret-2' };

/** One request as it stands, without any credentials of its own. A GET may carry a body, which fetch cannot. */
export const send = async (method: string, url: string, { query, form, body, headers }: Sent = {}) => {
  const target = new URL(url);
  target.search = new URLSearchParams(query).toString();
  const content = (form === undefined ? body : new URLSearchParams(form).toString()) ?? '';
  const length = { 'content-length': Buffer.byteLength(content) };
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  return new Promise<Answer>((resolve, reject) => {
    request(target, { method, agent: false, headers: { ...type, ...length, ...headers } }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      text(response)
        .then((said) => resolve({ status, headers: received, text: said, json: JSON.parse(said) }))
        .catch(reject);
    })
      .on('error', reject)
      .end(content);
  });
};

/** A read with both tokens in the query. */
export const get = async (url: string, query: Readonly<Record<string, string>> = {}) =>
  send('GET', url, { query: { ...tokens, ...query } });

/** A write with both tokens in the form. */
export const put = async (url: string, form: Readonly<Record<string, string>>) =>
  send('PUT', url, { form: { ...tokens, ...form } });

/** A change by hand, outside the operations. */
export const post = async (url: string, value: unknown) =>
  send('POST', url, { body: JSON.stringify(value), headers: { 'content-type': 'application/json' } });
