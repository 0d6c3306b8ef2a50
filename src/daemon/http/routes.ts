import { isIP } from 'node:net';
import { Hono, type Context } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { outcomes, type HistoryQuery } from '../../app/history.ts';
import type { Fleet } from '../../cluster/membership.ts';
import { atMostEvery } from '../../lib/at-most-every.ts';
import { messageOf } from '../../errors.ts';
import { parseMoment } from '../../model/duration.ts';
import { renderRefusal } from '../../status-page/forms.ts';
import { addressOf, readPageQuery, rootOf, type Visit } from '../../status-page/query.ts';
import { addActions, pageHeaders, signInPage, type ActionOptions } from './actions.ts';
import { eventStream, type ChangeFeed } from './events.ts';
import type { Pages } from './pages.ts';
import { peerOf, signIn } from './sign-in.ts';

export interface RouteOptions extends ActionOptions {
  readonly manager: ActionOptions['manager'] & {
    /** The history of writes, the oldest first. */
    history(query: HistoryQuery): Promise<readonly unknown[]>;
  };
  readonly fleet: Pick<Fleet, 'owners'>;
  /** Why the program is not ready; null when it is. */
  readonly unready: () => string | null;
  readonly pages: Pages;
  /** Notifies of changes of what pages show. */
  readonly changeFeed: ChangeFeed;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
}

/** What the daemon answers, in this order: probes to all, the rest to known hosts, and pages to those who may see them. */
export const routes = (options: RouteOptions): Hono => {
  const { manager, fleet, unready, pages, metrics, redact, onRefused, log } = options;
  const access = signIn(() => manager.settings);
  const app = new Hono();
  app.use(async (c, next) => {
    // Set before the answer is made, which is faster than changing it.
    for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value);
    await next();
  });
  app.use(methodNotAllowed({ app, onMethodNotAllowed: notAllowed }));

  // They answer any Host, since kubelets and scrapers use addresses and names of their own.
  app.get('/livez', (c) => c.text('ok\n'));
  for (const path of ['/readyz', '/healthz'])
    app.get(path, (c) => {
      const reason = unready();
      return c.json({ ready: reason === null, reason }, reason === null ? 200 : 503);
    });
  // Made ten times a second for all: who asks for thousands in one go would keep probes waiting for a minute.
  const isOld = atMostEvery(100);
  let text = Promise.resolve('');
  app.get('/metrics', async (c) => {
    if (isOld()) text = metrics.text();
    return c.body(await text, 200, { 'content-type': metrics.contentType });
  });

  app.use(async (c, next) => {
    if (isKnownHost(c.req.header('host'), manager.settings.allowedHosts)) return next();
    return c.text('This host name is not known here: add it to allowedHosts.\n', 421);
  });

  app.post('/api/reconcile', async (c) => {
    if (access.tokens().trigger === null) return c.notFound();
    const authorization = c.req.header('authorization');
    if (!access.triggers(authorization)) {
      const reason = authorization === undefined ? 'missing' : 'wrong';
      onRefused({ token: 'trigger', reason, address: peerOf(c) });
      return c.text('Needs the trigger token as a bearer token.\n', 401, { 'www-authenticate': 'Bearer' });
    }
    const asked = await manager.request((c.req.queries('client') ?? []).join(',').split(',').filter(Boolean));
    if (asked.kind === 'asked') return c.json({ passes: asked.passes }, 202);
    if (asked.kind === 'unknown')
      return c.json({ error: `there is no client ${asked.unknown.join(', ')}` }, 404);
    const error = 'PostgreSQL cannot be used now, so nobody is asked for a pass: try again';
    return c.json({ error }, 503, { 'retry-after': '10' });
  });
  addActions(app, access, options);

  app.use(async (c, next) => {
    const authorization = c.req.header('authorization');
    if (access.tokens().read === null || access.bearer(authorization) !== null) return next();
    if ((await access.session(c)) !== null) return next();
    const { pathname, search } = new URL(c.req.url);
    // Opening the page for the first time is no failed attempt.
    if (authorization !== undefined || !isBrowser(c)) {
      const reason = authorization === undefined ? 'missing' : 'wrong';
      onRefused({ token: 'page', reason, address: peerOf(c) });
    }
    if (isBrowser(c)) return signInPage(c, access, 401, `${pathname}${search}`.slice(1));
    const words = 'Needs the page token as a bearer token, or a sign-in.\n';
    return c.text(words, 401, { 'www-authenticate': 'Bearer' });
  });

  const visitOf = async (c: Context): Promise<Visit> => {
    const { pathname, searchParams } = new URL(c.req.url);
    const query = readPageQuery(searchParams);
    return {
      query,
      reader: { role: (await access.session(c))?.role ?? null, canAct: access.tokens().act !== null },
      root: rootOf(pathname),
      page: `${pathname.slice(1)}${addressOf(query)}`,
    };
  };
  app.get('/', async (c) => c.body(await pages.overview(await visitOf(c)), 200, pageHeaders));
  app.get('/writes', async (c) => c.body(await pages.writes(await visitOf(c)), 200, pageHeaders));
  // A proxy may have decoded a slash in a name.
  for (const path of ['/templates/:template{.+}', '/clients/:client/templates/:template{.+}'])
    app.get(path, async (c) => {
      const page = pages.template(
        c.req.param('template') ?? '',
        c.req.param('client') ?? null,
        await visitOf(c),
      );
      return page === null ? c.notFound() : c.body(await page, 200, pageHeaders);
    });
  app.get('/events', (c) => {
    // Tells proxies not to buffer events.
    const headers = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };
    // HEAD must not open a stream, since nobody would close it.
    if (c.req.method === 'HEAD') return c.body(null, 200, headers);
    const stream = eventStream(options.changeFeed);
    if (stream === null) return c.text('Too many pages are listening.\n', 503, { 'retry-after': '10' });
    return c.body(stream, 200, headers);
  });
  app.get('/api/report', async (c) =>
    c.body(await pages.report(), 200, { 'content-type': 'application/json' }),
  );
  app.get('/api/history', async (c) => {
    const query = readHistoryQuery(new URL(c.req.url).searchParams, Date.now());
    if (typeof query === 'string') return c.json({ error: query }, 400);
    return c.json(await manager.history(query));
  });
  app.get('/api/fleet', async (c) => {
    const found = await fleet.owners().catch((error: unknown) => ({ error: messageOf(error) }));
    const known = found ?? { processes: [], clients: [] };
    return c.json(redact(known), 'error' in known ? 503 : 200);
  });
  app.notFound((c) =>
    isBrowser(c)
      ? c.body(renderRefusal('Not found', 'There is no such page.', rootOf(c.req.path)), 404, pageHeaders)
      : c.text('Not found.\n', 404),
  );
  const mayLog = atMostEvery(10_000);
  app.onError((error, c) => {
    if (mayLog()) log.error({ event: 'request.failed', err: error }, 'request failed: unexpected error');
    return c.text('Internal error.\n', 500);
  });
  return app;
};

/** Reads `template` (repeatable), `since` and `outcome`; returns a message if one is invalid. */
const readHistoryQuery = (query: URLSearchParams, now: number): HistoryQuery | string => {
  if ([...query.keys()].some((key) => !filters.includes(key)))
    return `unknown filter, expected ${filters.join(', ')}`;
  const [since, outcome] = [query.get('since'), query.get('outcome')];
  const from = since === null ? 0 : parseMoment(since, now);
  if (from === null) return 'since: expected a duration such as 2d, or a time such as 2026-11-20T20:00:00Z';
  const known = outcomes.find((one) => one === outcome) ?? null;
  if (outcome !== known) return `outcome: expected one of ${outcomes.join(', ')}`;
  return { templates: query.getAll('template'), since: from, outcome: known, limit: 1_000 };
};

const filters = ['template', 'since', 'outcome'];

const isBrowser = (c: Context): boolean => c.req.header('accept')?.includes('text/html') === true;

const notAllowed = (c: Context, methods: string[]): Response =>
  c.text('Method not allowed.\n', 405, { allow: methods.join(', ') });

const securityHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Whether this Host header names us. A foreign web page can make a browser send requests here under its own
 * host name (DNS rebinding), but not under an address or a name that we know.
 */
const isKnownHost = (header: string | undefined, allowed: readonly string[]): boolean => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  return isIP(host) !== 0 || host === 'localhost' || allowed.includes(host);
};
