import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import { longestReason } from '../../status-page/actions.ts';
import { renderActSignIn, renderRefusal, smallPagePolicy } from '../../status-page/sign-in.ts';
import { parseSuspensionLength, refusedReason } from '../../model/suspension.ts';
import type { PassRequests } from '../clients/client-manager.ts';
import type { SuspendTemplate, ResumeTemplate } from '../clients/suspending.ts';
import {
  endSession,
  noteAction,
  readSession,
  startSession,
  type ActSession,
  type TakenAction,
} from './act-session.ts';
import { isSame } from './bearer.ts';
import { pageOfOurs, type PageAccessOptions } from './page-access.ts';

export interface ActOptions extends Pick<PageAccessOptions, 'refuse'> {
  /** Who may act; null: nobody. */
  readonly actToken: () => string | null;
  /** The public address of the page: behind a proxy, requests may come to another name. */
  readonly publicUrl: () => string | null;
  readonly requestPass: (clients: readonly string[]) => Promise<PassRequests>;
  readonly suspend: SuspendTemplate;
  readonly resume: ResumeTemplate;
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly addressOf: (c: Context) => string;
  readonly log: Logger;
}

/**
 * Actions from the page, by plain forms. A request acts only if it is a POST from one of our own pages (`Origin`), of
 * somebody who has signed in with the trigger token (a cookie that other sites do not send), with the token that only
 * our pages have in their forms. Everything else is refused before it is looked at.
 */
export const act = (options: ActOptions): Hono => {
  const { actToken, publicUrl, redact, refuse } = options;
  const app = new Hono();
  app.use(async (c, next) => {
    if (actToken() === null) return c.notFound();
    // With no-referrer, browsers would not send the origin of a form.
    c.header('referrer-policy', 'same-origin');
    return next();
  });
  app.get('/', async (c) => {
    const next = pageOfOurs(c.req.query('next') ?? null);
    return (await readSession(c, actToken()!)) === null
      ? signInPage(c, null, next, 200)
      : c.redirect(next, 303);
  });
  app.post(
    '/*',
    bodyLimit({ maxSize: largestForm, onError: (c) => c.text('Too large.\n', 413) }),
    async (c, next) => {
      if (isFromHere(c, publicUrl())) return next();
      refuse(c, { token: 'trigger', reason: 'foreign' });
      return refusal(
        c,
        403,
        'This request did not come from this page. Behind a proxy, set publicUrl to the address of the page.',
      );
    },
  );
  app.post('/sign-in', async (c) => {
    const form = await formOf(c);
    const next = pageOfOurs(form.get('next'));
    const [given, name] = [form.get('token'), nameIn(form)];
    if (given === null || !isSame(Buffer.from(given), actToken()!)) {
      refuse(c, { token: 'trigger', reason: given === null ? 'missing' : 'wrong' });
      return signInPage(c, 'This is not the trigger token.', next, 401);
    }
    // A token in the wrong field would be shown to everybody.
    if (name === null || redact(name) !== name)
      return signInPage(c, 'Give your name: it is shown beside what you suspend.', next, 400);
    await startSession(c, actToken()!, name);
    return c.redirect(next, 303);
  });
  app.post('/:action', async (c) => {
    const form = await formOf(c);
    const session = await readSession(c, actToken()!);
    const given = form.get('form');
    if (session === null || given === null || !isSame(Buffer.from(given), session.formToken)) {
      refuse(c, { token: 'trigger', reason: session === null || given === null ? 'missing' : 'wrong' });
      return refusal(
        c,
        403,
        'You have not signed in to act, or the page was too old. Sign in, and try again.',
      );
    }
    return take(c, form, session, options);
  });
  app.all('/*', (c) => c.text('Method not allowed.\n', 405, { allow: 'POST' }));
  return app;
};

/** Browsers send the origin with each form; old ones and proxies may leave out what they say about the site. */
const isFromHere = (c: Context, publicUrl: string | null): boolean => {
  const [origin, site] = [c.req.header('origin') ?? '', c.req.header('sec-fetch-site')];
  if (!URL.canParse(origin) || (site !== undefined && site !== 'same-origin')) return false;
  const { host, origin: plain } = new URL(origin);
  return (
    host === c.req.header('host')?.toLowerCase() ||
    (publicUrl !== null && plain === new URL(publicUrl).origin)
  );
};

const take = async (
  c: Context,
  form: URLSearchParams,
  { name: by }: ActSession,
  { actToken, requestPass, suspend, resume, redact, addressOf, log }: ActOptions,
): Promise<Response> => {
  const [action, next] = [c.req.param('action'), pageOfOurs(form.get('next'))];
  const [client, template] = [form.get('client'), form.get('template')];
  const done = async (taken: Omit<TakenAction, 'at' | 'client'>): Promise<Response> => {
    const at = Date.now();
    // For a suspension, which is stored by now, the pass only shows it on the page.
    const asked = await requestPass(client === null ? [] : [client]);
    if (action === 'sync' && asked.kind === 'unknown')
      return refusal(c, 404, 'There is no client of this name any more.');
    if (action === 'sync' && asked.kind === 'unsure')
      return refusal(c, 503, 'PostgreSQL cannot be used now. Try again in a few seconds.');
    log.info({ event: 'page.action', ...taken, client, by, address: addressOf(c) }, 'action from the page');
    await noteAction(c, actToken()!, { ...taken, client, at });
    return c.redirect(next, 303);
  };
  if (action === 'sign-out') {
    endSession(c);
    return c.redirect(next, 303);
  }
  if (action === 'sync') return done({ action, template: null, until: null, isDone: true });
  if (client === null || template === null || (action !== 'suspend' && action !== 'resume'))
    return refusal(c, 400, 'The form is not complete.');
  if (action === 'resume') {
    const ended = await resume(client, template);
    return ended === null ? noTemplate(c) : done({ action, template, until: null, isDone: ended > 0 });
  }
  const [reason, given] = [(form.get('reason') ?? '').trim(), form.get('duration') ?? ''];
  const duration = given === '' ? null : parseSuspensionLength(given);
  if (reason === '' || reason.length > longestReason || (given !== '' && duration === null))
    return refusal(
      c,
      400,
      `Give a reason of at most ${longestReason} characters, and a duration such as 2h.`,
    );
  const refused = refusedReason(reason, redact);
  if (refused !== null) return refusal(c, 400, `The reason is refused: ${refused}.`);
  const saved = await suspend(client, template, { by, reason, duration });
  return saved === null ? noTemplate(c) : done({ action, template, until: saved.until, isDone: true });
};

const noTemplate = (c: Context): Response => refusal(c, 404, 'There is no template of this name any more.');

/** A name for people: without characters that would end a cookie or hide something. */
const nameIn = (form: URLSearchParams): string | null => {
  const name = (form.get('name') ?? '').trim();
  return /^[\p{L}\p{M}\p{N} .,'@_-]{1,60}$/u.test(name) ? name : null;
};

const formOf = async (c: Context): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

const pageHeaders = { 'content-security-policy': smallPagePolicy };

const signInPage = (c: Context, error: string | null, next: string, status: 200 | 400 | 401): Response =>
  c.html(renderActSignIn(error, next), status, pageHeaders);

const refusal = (c: Context, status: 400 | 403 | 404 | 503, words: string): Response =>
  c.html(renderRefusal(words), status, pageHeaders);

/** Bytes. */
const largestForm = 8_192;
