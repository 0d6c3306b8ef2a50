export const tokens = { user_token: 'user-secret-1', client_token: 'client-secret-2' };

/** One request as it stands, without any credentials of its own. */
export const send = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  const text = await response.text();
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows what it asked for
  const json: any = JSON.parse(text);
  return { status: response.status, type: response.headers.get('content-type'), text, json };
};

/** A read with both tokens in the query. */
export const get = (url: string, query: Readonly<Record<string, string>> = {}) =>
  send(`${url}?${new URLSearchParams({ ...tokens, ...query }).toString()}`);

/** A write with both tokens in the form. */
export const put = (url: string, form: Readonly<Record<string, string>>) =>
  send(url, { method: 'PUT', body: new URLSearchParams({ ...tokens, ...form }) });

/** A change by hand, outside the operations. */
export const post = (url: string, value: unknown) =>
  send(url, {
    method: 'POST',
    body: JSON.stringify(value),
    headers: { 'content-type': 'application/json' },
  });
