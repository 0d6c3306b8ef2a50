import { createHmac, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { getSignedCookie, setSignedCookie, deleteCookie } from 'hono/cookie';

/** Somebody who has signed in with the trigger token. */
export interface ActSession {
  /** What they called themselves. */
  readonly name: string;
  /** Proves that a form was made for this session. Nobody else can know it. */
  readonly formToken: string;
}

/** Both cookies are signed with the trigger token, so they end with it. */
export const readSession = async (c: Context, token: string): Promise<ActSession | null> => {
  const value = await getSignedCookie(c, token, cookie);
  // The cookie of the page token has another form, so it never is one of these.
  const [, ends, name] = /^act\.(\d+)\.[\w-]+\.(.+)$/.exec(value || '') ?? [];
  if (typeof value !== 'string' || name === undefined || Number(ends) <= Date.now()) return null;
  return { name, formToken: createHmac('sha256', token).update(`form ${value}`).digest('base64url') };
};

export const startSession = (c: Context, token: string, name: string): Promise<void> => {
  const value = `act.${Date.now() + sessionLength}.${randomBytes(16).toString('base64url')}.${name}`;
  return setSignedCookie(c, cookie, value, token, { ...attributes(c), maxAge: sessionLength / 1_000 });
};

export const endSession = (c: Context): void => {
  for (const one of [cookie, outcomeCookie]) deleteCookie(c, one, attributes(c));
};

/** An action that somebody took, to show its outcome on the next pages. */
export interface TakenAction {
  readonly action: 'sync' | 'suspend' | 'resume';
  /** Null: all clients. */
  readonly client: string | null;
  readonly template: string | null;
  /** Ms since the epoch. */
  readonly at: number;
  readonly until: number | null;
  /** Whether there was something to do. */
  readonly isDone: boolean;
}

export const noteAction = (c: Context, token: string, taken: TakenAction): Promise<void> =>
  setSignedCookie(c, outcomeCookie, `did.${JSON.stringify(taken)}`, token, {
    ...attributes(c),
    maxAge: outcomeLength / 1_000,
  });

export const lastAction = async (c: Context, token: string): Promise<TakenAction | null> => {
  const value = await getSignedCookie(c, token, outcomeCookie);
  if (typeof value !== 'string' || !value.startsWith('did.')) return null;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is signed, so it is what was noted
  const taken = JSON.parse(value.slice(4)) as TakenAction;
  return taken.at > Date.now() - outcomeLength ? taken : null;
};

const cookie = 'dns-template-sync-act';
const outcomeCookie = 'dns-template-sync-did';

const attributes = (c: Context) =>
  ({
    httpOnly: true,
    sameSite: 'Strict',
    path: '/',
    // A proxy terminates TLS.
    secure: c.req.header('x-forwarded-proto') === 'https',
  }) as const;

/** Milliseconds. */
const sessionLength = 12 * 60 * 60 * 1_000;
const outcomeLength = 5 * 60 * 1_000;
