import { Hono, type Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Logger } from 'pino';
import { smallPagePolicy } from '../../status-page/frame.ts';
import { renderRefusal, renderSignIn } from '../../status-page/small-pages.ts';
import { rootOf, withNotice, type Notice } from '../../status-page/query.ts';
import { parseSuspensionLength, refusedReason } from '../../model/suspension.ts';
import type { ClientManager } from '../clients/client-manager.ts';
import type { PageRefusal } from './refusals.ts';
import type { Session, SignIn } from './sign-in.ts';

export interface ActionOptions extends Pick<ClientManager, 'suspend' | 'resume'> {
  readonly signIn: SignIn;
  /** The public address of the page: behind a proxy, requests may come to another name. */
  readonly publicUrl: () => string | null;
  readonly requestPass: ClientManager['request'];
  /** Replaces every secret in a value. */
  readonly redact: <T>(value: T) => T;
  readonly refuse: (c: Context, refusal: Omit<PageRefusal, 'address'>) => void;
  readonly addressOf: (c: Context) => string;
  readonly log: Logger;
}

/**
 * The forms of the page. A request is taken only if the browser says that one of our own pages has sent it; an action
 * also needs a session that may act, whose cookie other sites do not send. An action leads back to its page, which
 * shows what became of it.
 */
export const actions = (options: ActionOptions): Hono => {
  const { signIn, refuse, redact } = options;
  const canSignIn = (): boolean => signIn.canAct() || signIn.isClosed();
  const app = new Hono();
  for (const path of ['/sign-in', '/sign-out', '/act/*']) {
    app.use(path, bodyLimit({ maxSize: largestForm, onError: (c) => c.text('Too large.\n', 413) }));
    app.use(path, async (c, next) => {
      if (c.req.method !== 'POST' || isFromHere(c, options.publicUrl())) return next();
      refuse(c, { token: 'trigger', reason: 'foreign' });
      const words =
        'This request did not come from this page. Behind a proxy, set publicUrl to the address of the page.';
      return refusal(c, 403, words);
    });
  }
  app.get('/sign-in', (c) =>
    canSignIn()
      ? signInPage(c, signIn, { next: pageOfOurs(c.req.query('next')), status: 200 })
      : c.notFound(),
  );
  app.post('/sign-in', async (c) => {
    if (!canSignIn()) return c.notFound();
    const form = await formOf(c);
    const [token, next] = [form.get('token'), pageOfOurs(form.get('next'))];
    const role = token === null ? null : signIn.roleOf(token);
    if (role === null) {
      const reason = token === null ? 'missing' : 'wrong';
      refuse(c, { token: signIn.isClosed() ? 'page' : 'trigger', reason });
      return signInPage(c, signIn, {
        next,
        status: 401,
        error: 'This token is not one of those in the settings.',
      });
    }
    const name = (form.get('name') ?? '').trim();
    // A token in the wrong field would be shown to everybody.
    if ((role === 'act' || name !== '') && (!isName(name) || redact(name) !== name))
      return signInPage(c, signIn, {
        next,
        status: 400,
        error: 'Give your name: it is shown beside what you suspend.',
      });
    await signIn.start(c, { role, name });
    return c.redirect(`./${next}`, 303);
  });
  app.post('/sign-out', async (c) => {
    await signIn.end(c);
    return c.redirect(`./${pageOfOurs((await formOf(c)).get('next'))}`, 303);
  });
  app.post('/act/:action', async (c) => {
    if (!signIn.canAct()) return c.notFound();
    const session = await signIn.session(c);
    if (session?.role === 'act') return act(c, await formOf(c), session, options);
    refuse(c, { token: 'trigger', reason: 'missing' });
    return refusal(c, 403, 'You have not signed in with the trigger token. Sign in, and try again.');
  });
  app.all('/sign-in', (c) => c.text('Method not allowed.\n', 405, { allow: 'GET, HEAD, POST' }));
  for (const path of ['/sign-out', '/act/*'])
    app.all(path, (c) => c.text('Method not allowed.\n', 405, { allow: 'POST' }));
  return app;
};

/** `next`: the page that was asked for. */
export const signInPage = (
  c: Context,
  signIn: SignIn,
  { next, status, error = null }: { next: string; status: 200 | 400 | 401; error?: string | null },
): Response => {
  // Followed from another site, a link comes without the cookie; loaded again by our own page, with it.
  const reloads = c.req.method === 'GET' && c.req.header('sec-fetch-site') === 'cross-site';
  const page = {
    next,
    error,
    reloads,
    root: rootOf(c.req.path),
    canAct: signIn.canAct(),
    isClosed: signIn.isClosed(),
  };
  return c.html(renderSignIn(page), status, {
    ...pageHeaders,
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
};

/** Browsers say where a form comes from; those that do not, and those without TLS, send its origin. */
const isFromHere = (c: Context, publicUrl: string | null): boolean => {
  const [origin, site] = [c.req.header('origin') ?? '', c.req.header('sec-fetch-site')];
  if (site !== undefined) return site === 'same-origin';
  if (!URL.canParse(origin)) return false;
  const { host, origin: plain } = new URL(origin);
  return (
    host === c.req.header('host')?.toLowerCase() ||
    (publicUrl !== null && plain === new URL(publicUrl).origin)
  );
};

const act = async (
  c: Context,
  form: URLSearchParams,
  { name }: Session,
  { requestPass, suspend, resume, redact, addressOf, log }: ActionOptions,
): Promise<Response> => {
  const [action, client, template] = [c.req.param('action'), form.get('client'), form.get('template')];
  // Nobody has proved this name: it must not pass for that of a user of the machine.
  const by = `${name} (on the page)`;
  const done = async (did: Notice['did'], until: number | null = null): Promise<Response> => {
    const at = Date.now();
    // For a suspension, which is stored by now, the pass only shows it on the page.
    const asked = await requestPass(client === null ? [] : [client]);
    if (action === 'sync' && asked.kind === 'unknown')
      return refusal(c, 404, 'There is no client of this name any more.');
    if (action === 'sync' && asked.kind === 'unsure')
      return refusal(c, 503, 'PostgreSQL cannot be used now. Try again in a few seconds.');
    log.info(
      {
        event: 'page.action',
        action,
        client,
        template,
        until,
        isDone: did !== 'nothing',
        by,
        address: addressOf(c),
      },
      'action from the page',
    );
    return c.redirect(`../${withNotice(pageOfOurs(form.get('next')), { did, at })}`, 303);
  };
  if (action === 'sync') return done('sync');
  if (client === null || template === null || (action !== 'suspend' && action !== 'resume'))
    return refusal(c, 400, 'The form is not complete.');
  if (action === 'resume') {
    const ended = await resume(client, template);
    return ended === null ? noTemplate(c) : done(ended > 0 ? 'resume' : 'nothing');
  }
  const [reason, given] = [(form.get('reason') ?? '').trim(), form.get('duration') ?? ''];
  const duration = given === '' ? null : parseSuspensionLength(given);
  const refused = refusedReason(reason, redact);
  if (refused !== null) return refusal(c, 400, `The reason is refused: ${refused}.`);
  if (given !== '' && duration === null) return refusal(c, 400, 'Give a duration such as 2h, 1000d at most.');
  const saved = await suspend(client, template, { by, reason, duration });
  return saved === null ? noTemplate(c) : done('suspend', saved.until);
};

const noTemplate = (c: Context): Response => refusal(c, 404, 'There is no template of this name any more.');

/** For people: without characters that would end a cookie, hide something, or look like our own mark. */
const isName = (name: string): boolean => /^[\p{L}\p{M}\p{N} .,'@_-]{1,60}$/u.test(name);

const formOf = async (c: Context): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

/** An address of ours, from the page's root: a form may come from elsewhere and name a foreign page. */
export const pageOfOurs = (next: string | null | undefined): string =>
  next != null && /^(?:\?|clients\/|templates\/|writes$)[\x21-\x7e]*$/.test(next) ? next : '';

const pageHeaders = {
  'content-security-policy': smallPagePolicy,
  // With no-referrer, browsers would not send the origin of a form.
  'referrer-policy': 'same-origin',
};

const refusal = (c: Context, status: 400 | 403 | 404 | 503, words: string): Response =>
  c.html(renderRefusal(words, rootOf(c.req.path)), status, pageHeaders);

/** Bytes. */
const largestForm = 8_192;
