import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { parseSuspensionLength, refusedReason } from '../../model/suspension.ts';
import { renderRefusal, renderSignIn } from '../../status-page/forms.ts';
import { pagePolicy } from '../../status-page/frame.ts';
import { rootOf, type Deed } from '../../status-page/query.ts';
import type { ClientManager } from '../clients/client-manager.ts';
import type { DaemonContext } from '../context.ts';
import { peerOf, type PageRefusal, type SignIn } from './sign-in.ts';

export interface ActionOptions extends Pick<DaemonContext, 'redact' | 'log'> {
  readonly manager: Pick<ClientManager, 'settings' | 'request' | 'suspending'>;
  /** Called for each request whose token is missing or wrong. */
  readonly onRefused: (refusal: PageRefusal) => void;
}

/**
 * The forms of the page. A request is taken only if the browser says that one of our own pages has sent it; an action
 * also needs a session that may act, whose cookie other sites do not send. An action leads back to its page, which
 * says what was done.
 */
export const addActions = (app: Hono, signIn: SignIn, options: ActionOptions): void => {
  const { manager, redact, onRefused } = options;
  for (const path of ['/sign-in', '/sign-out', '/act/*']) {
    app.post(path, bodyLimit({ maxSize: largestForm, onError: (c) => c.text('Too large.\n', 413) }));
    app.post(path, async (c, next) => {
      if (isFromHere(c, manager.settings.publicUrl)) return next();
      onRefused({ token: 'trigger', reason: 'foreign', address: peerOf(c) });
      return refusal(
        c,
        403,
        'This request did not come from this page. Behind a proxy, set publicUrl to the address of the page.',
      );
    });
  }
  app.use('/sign-in', async (c, next) => {
    const { read, act: acting } = signIn.tokens();
    return read === null && acting === null ? c.notFound() : next();
  });
  app.get('/sign-in', (c) => signInPage(c, signIn, 200, c.req.query('next')));
  app.post('/sign-in', async (c) => {
    const { token = '', next, name: given = '' } = await formOf(c);
    const role = signIn.roleOf(token);
    if (role === null) {
      onRefused({
        token: signIn.tokens().read === null ? 'trigger' : 'page',
        reason: 'wrong',
        address: peerOf(c),
      });
      return signInPage(c, signIn, 401, next, 'This token is not one of those in the settings.');
    }
    const name = given.trim();
    // A token in the wrong field would be shown to everybody.
    if ((role === 'act' || name !== '') && (!isName(name) || redact(name) !== name))
      return signInPage(c, signIn, 400, next, 'Give your name: it is shown beside what you suspend.');
    await signIn.start(c, role, name);
    return c.redirect(`./${pageOfOurs(next)}`, 303);
  });
  app.post('/sign-out', async (c) => {
    await signIn.end(c);
    return c.redirect(`./${pageOfOurs((await formOf(c))['next'])}`, 303);
  });
  app.post('/act/:action', async (c) => {
    if (signIn.tokens().act === null) return c.notFound();
    const session = await signIn.session(c);
    if (session?.role !== 'act') {
      onRefused({ token: 'trigger', reason: 'missing', address: peerOf(c) });
      return refusal(c, 403, 'You have not signed in with the trigger token. Sign in, and try again.');
    }
    // Nobody has proved this name: it must not pass for that of a user of the machine.
    return act(c, await formOf(c), `${session.name} (on the page)`, options);
  });
};

const act = async (
  c: Context,
  { client = '', template = '', next, reason = '', duration = '' }: Form,
  by: string,
  { manager, redact, log }: ActionOptions,
): Promise<Response> => {
  const action = c.req.param('action');
  const gone = 'There is no template of this name any more.';
  let did: Deed = 'sync';
  let until: number | null = null;
  if (action !== 'sync' && (client === '' || template === ''))
    return refusal(c, 400, 'The form is not complete.');
  if (action === 'resume') {
    const done = await manager.suspending(client, template, async (one, suspensions): Promise<Deed> => {
      const ended = await suspensions.resume([one]);
      if ((await suspensions.suspensions()).some((left) => left.template === null)) return 'stays';
      return ended.length > 0 ? 'resume' : 'nothing';
    });
    if (done === null) return refusal(c, 404, gone);
    did = done;
  } else if (action === 'suspend') {
    const [why, length] = [reason.trim(), duration === '' ? null : parseSuspensionLength(duration)];
    const refused = refusedReason(why, redact);
    if (refused !== null) return refusal(c, 400, `The reason is refused: ${refused}.`);
    if (duration !== '' && length === null)
      return refusal(c, 400, 'Give a duration such as 2h, 1000d at most.');
    const saved = await manager.suspending(client, template, (one, suspensions) =>
      suspensions.suspend({ templates: [one], by, reason: why, duration: length }),
    );
    if (saved === null) return refusal(c, 404, gone);
    [did, until] = ['suspend', saved[0]?.until ?? null];
  } else if (action !== 'sync') return c.notFound();
  // For a suspension, which is stored by now, the pass only shows it on the page.
  const asked = await manager.request(client === '' ? [] : [client]);
  if (action === 'sync' && asked.kind === 'unknown')
    return refusal(c, 404, 'There is no client of this name any more.');
  if (action === 'sync' && asked.kind === 'unsure')
    return refusal(c, 503, 'PostgreSQL cannot be used now. Try again in a few seconds.');
  const isDone = did !== 'nothing';
  const what = { action, client: client || null, template: template || null, until };
  log.info({ event: 'page.action', ...what, isDone, by, address: peerOf(c) }, 'action from the page');
  const page = pageOfOurs(next);
  return c.redirect(`../${page}${page.includes('?') ? '&' : '?'}did=${did}`, 303);
};

/** `next`: the page that was asked for. */
export const signInPage = (
  c: Context,
  signIn: SignIn,
  status: 200 | 400 | 401,
  next: string | undefined,
  error: string | null = null,
): Response =>
  c.html(
    renderSignIn({
      next: pageOfOurs(next),
      error,
      root: rootOf(c.req.path),
      isClosed: signIn.tokens().read !== null,
      // Followed from another site, a link comes without the cookie; loaded again by our own page, with it.
      reloads: c.req.method === 'GET' && c.req.header('sec-fetch-site') === 'cross-site',
    }),
    status,
    { ...pageHeaders, ...(status === 401 && { 'www-authenticate': 'Bearer' }) },
  );

export const pageHeaders = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': pagePolicy,
  // With no-referrer, browsers would not send the origin of a form.
  'referrer-policy': 'same-origin',
};

const refusal = (c: Context, status: 400 | 403 | 404 | 503, words: string): Response =>
  c.html(renderRefusal('Nothing was done', words, rootOf(c.req.path)), status, pageHeaders);

/** Browsers say where a form comes from; those that do not, and those without TLS, send its origin. */
const isFromHere = (c: Context, publicUrl: string | null): boolean => {
  const [origin, site] = [c.req.header('origin') ?? '', c.req.header('sec-fetch-site')];
  if (site !== undefined) return site === 'same-origin';
  if (!URL.canParse(origin)) return false;
  const { host, origin: plain } = new URL(origin);
  const isPublic = publicUrl !== null && plain === new URL(publicUrl).origin;
  return isPublic || host === c.req.header('host')?.toLowerCase();
};

type Form = Readonly<Partial<Record<string, string>>>;

/** An empty one of somebody who has gone before all of it was sent: nobody hears the answer. */
const formOf = async (c: Context): Promise<Form> =>
  Object.fromEntries(new URLSearchParams(await c.req.text().catch(() => '')));

/** For people: without characters that would end a cookie, hide something, or look like our own mark. */
const isName = (name: string): boolean => /^[\p{L}\p{M}\p{N} .,'@_-]{1,60}$/u.test(name);

/** An address of ours, from the page's root: a form may come from elsewhere and name a foreign page. */
const pageOfOurs = (next: string | undefined): string =>
  next !== undefined && /^(?:\?|clients\/|templates\/|writes$)[\x21-\x7e]*$/.test(next) ? next : '';

/** Bytes. */
const largestForm = 8_192;
