import type { Dialect } from '../model/dialect.ts';
import type { Call, Tokens } from './call.ts';
import type { WireRequest } from './send-request.ts';

/** Where a call goes, and its parameters in the form that the service reads. */
export const requestOf = (
  { method, path, parameters = {}, page = [] }: Call<unknown>,
  { userToken, clientToken }: Tokens,
  { getParameters, putParameters }: Dialect,
  basePath: string,
): Pick<WireRequest, 'method' | 'path' | 'body'> => {
  const pairs = new URLSearchParams({ user_token: userToken, client_token: clientToken });
  for (const [name, value] of Object.entries(parameters))
    if (value !== null && value !== undefined) pairs.set(name, String(value));
  for (const [name, value] of page) if (!tokenNames.has(name)) pairs.set(name, value);
  const place = `${basePath}${path}`;
  switch (method === 'GET' ? getParameters : putParameters) {
    case 'query':
      return { method, path: `${place}?${pairs.toString()}`, body: null };
    case 'json':
      return { method, path: place, body: { type: 'application/json', text: jsonOf(pairs) } };
    case 'body':
    case 'form':
      return { method, path: place, body: { type: formType, text: pairs.toString() } };
  }
};

/** An address of a next page may repeat the tokens, in whatever form. */
const tokenNames: ReadonlySet<string> = new Set(['user_token', 'client_token']);

const formType = 'application/x-www-form-urlencoded';

/** All parameters are texts (specification §4). */
const jsonOf = (pairs: URLSearchParams): string => JSON.stringify(Object.fromEntries(pairs));
