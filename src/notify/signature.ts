import { createHmac } from 'node:crypto';

/**
 * The headers by which a receiver verifies a message: its id, the time of this attempt (seconds since the
 * epoch), and if there is a secret, `v1,` and the base64 HMAC-SHA256 of `ID.TIME.BODY`. This is the form of
 * the Standard Webhooks specification, so that its libraries check it; as there, a secret `whsec_…` is the
 * base64 of the key.
 */
export const signedHeaders = (
  id: string,
  time: number,
  body: string,
  secret: string | null,
): Record<string, string> => {
  const timestamp = String(Math.floor(time / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const digest = createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${digest}` };
};

const keyOf = (secret: string): Buffer =>
  secret.startsWith(prefix) ? Buffer.from(secret.slice(prefix.length), 'base64') : Buffer.from(secret);

const prefix = 'whsec_';
