import { Hono, type Context, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getSignedCookie, setSignedCookie } from 'hono/cookie';
import { renderSignIn, smallPagePolicy } from '../../status-page/sign-in.ts';
import { bears, isSame } from './bearer.ts';
import type { PageRefusal } from './refusals.ts';

export interface PageAccessOptions {
  /** Who may see the page; null: everybody. */
  readonly pageToken: () => string | null;
  readonly refuse: (c: Context, refusal: Pick<PageRefusal, 'token' | 'reason'>) => void;
}

/**
 * Lets requests through that bear the page token or a cookie from signing in with it. The cookie holds its
 * end, signed with the token: it survives a restart and ends with the token.
 */
export const pageAccess = ({ pageToken, refuse }: PageAccessOptions): MiddlewareHandler => {
  return async (c, next) => {
    const token = pageToken();
    if (token === null || (await hasSignedIn(c, token))) return next();
    const authorization = c.req.header('authorization');
    if (bears(authorization, token)) return next();
    const isBrowser = c.req.header('accept')?.includes('text/html') === true;
    // Opening the page for the first time is no failed attempt.
    if (authorization !== undefined || !isBrowser)
      refuse(c, { token: 'page', reason: authorization === undefined ? 'missing' : 'wrong' });
    const { pathname, search } = new URL(c.req.url);
    return isBrowser ? signInPage(c, false, pathname + search) : unauthorized(c);
  };
};

/** Handles the sign-in form. */
export const signIn = ({ pageToken, refuse }: PageAccessOptions): Hono => {
  const app = new Hono();
  app.post('/', bodyLimit({ maxSize: largestForm, onError: tooLarge }), async (c) => {
    const token = pageToken();
    if (token === null) return c.notFound();
    const form = new URLSearchParams(await c.req.text());
    const given = form.get('token');
    const next = pageOfOurs(form.get('next'));
    if (given === null || !isSame(Buffer.from(given), token)) {
      refuse(c, { token: 'page', reason: given === null ? 'missing' : 'wrong' });
      return signInPage(c, true, next);
    }
    await setSignedCookie(c, cookie, String(Date.now() + sessionLength), token, {
      httpOnly: true,
      sameSite: 'Lax',
      path: '/',
      maxAge: sessionLength / 1_000,
      // A proxy terminates TLS.
      secure: c.req.header('x-forwarded-proto') === 'https',
    });
    return c.redirect(next, 303);
  });
  app.get('/', (c) => (pageToken() === null ? c.notFound() : c.redirect('/', 303)));
  return app;
};

const hasSignedIn = async (c: Context, token: string): Promise<boolean> => {
  const ends = await getSignedCookie(c, token, cookie);
  return typeof ends === 'string' && Number(ends) > Date.now();
};

/** The form may come from elsewhere and name a foreign page. */
export const pageOfOurs = (next: string | null): string =>
  next !== null && /^\/(?:\?|(?:clients|templates)\/|$)[\x21-\x7e]*$/.test(next) ? next : '/';

const signInPage = (c: Context, isWrong: boolean, next: string): Response =>
  c.html(renderSignIn(isWrong, next), 401, {
    'www-authenticate': 'Bearer',
    'content-security-policy': smallPagePolicy,
  });

const unauthorized = (c: Context): Response =>
  c.text('Needs the page token as a bearer token, or a sign-in.\n', 401, {
    'www-authenticate': 'Bearer',
  });

const tooLarge = (c: Context): Response => c.text('Too large.\n', 413);

const cookie = 'dns-template-sync';

/** Milliseconds. */
const sessionLength = 7 * 24 * 60 * 60 * 1_000;

/** Bytes. */
const largestForm = 4_096;
