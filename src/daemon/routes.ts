import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context, type Handler, type MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { pagePolicy } from '../status-page/policy.ts';
import { bears } from './bearer.ts';
import type { Readiness } from './client-state.ts';
import { eventStreams } from './event-stream.ts';
import { linkTo, readHistoryQuery, type HistoryPage, type HistoryQuery } from './history-query.ts';
import { isKnownHost } from './host-rule.ts';
import { pageAccess, signIn, type PageAccessOptions } from './page-access.ts';
import type { PageRefusal } from './refusals.ts';
import type { StatusPages } from './status-page.ts';
import { fewAtATime } from './request-limits.ts';
import type { ChangeFeed } from './change-feed.ts';

export interface RouteOptions {
  /** Lower-case names that a request may ask for, beside addresses and `localhost`. */
  readonly allowedHosts: () => readonly string[];
  readonly readiness: () => Readiness;
  readonly pages: StatusPages;
  /** When there are others. */
  readonly changeFeed: ChangeFeed;
  readonly metrics: { readonly contentType: string; readonly text: Text };
  /** The newest state of every client, as JSON. */
  readonly report: Text;
  /** Writes of the past. The signal says that nobody waits for them any more. */
  readonly history: (query: HistoryQuery, signal: AbortSignal) => Promise<HistoryPage>;
  /** Who may ask for a pass; null: nobody. */
  readonly triggerToken: () => string | null;
  readonly requestPass: () => void;
  /** Who may see page, events, report and history; null: everybody who reaches them. */
  readonly pageToken: () => string | null;
  /** Told of each request that lacks its token. */
  readonly onRefused: (refusal: PageRefusal) => void;
  readonly log: Logger;
}

/** One text for all who ask for it: there may be many, and it may be long. */
type Text = () => Promise<Uint8Array<ArrayBuffer>>;

/** Probes and metrics come first: they answer under any Host, since a kubelet or a scraper asks as it likes. */
export const routes = (options: RouteOptions): Hono => {
  const {
    allowedHosts,
    readiness,
    pages,
    metrics,
    report,
    history,
    triggerToken,
    requestPass,
    pageToken,
    log,
  } = options;
  const streams = eventStreams(options.changeFeed);
  const app = new Hono();
  const get = (path: string, answer: Handler): void => {
    app.get(path, answer);
    app.all(path, notAllowed('GET, HEAD'));
  };
  const refuse: PageAccessOptions['refuse'] = (c, refusal) =>
    options.onRefused({ ...refusal, address: getConnInfo(c).remote.address ?? '' });
  app.use(withSecurityHeaders);

  get('/livez', (c) => c.text('ok\n'));
  for (const path of ['/readyz', '/healthz']) {
    get(path, (c) => {
      const now = readiness();
      return c.json(now, now.ready ? 200 : 503);
    });
  }
  get('/metrics', async (c) => c.body(await metrics.text(), 200, { 'content-type': metrics.contentType }));

  app.use(async (c, next) => {
    if (isKnownHost(c.req.header('host'), allowedHosts())) return next();
    return c.text('This host name is not known here: add it to allowedHosts.\n', 421);
  });

  app.all('/api/reconcile', (c) => {
    const token = triggerToken();
    if (token === null) return c.notFound();
    if (c.req.method !== 'POST') return notAllowed('POST')(c);
    const authorization = c.req.header('authorization');
    if (!bears(authorization, token)) {
      refuse(c, { token: 'trigger', reason: authorization === undefined ? 'missing' : 'wrong' });
      return c.text('Needs the trigger token as a bearer token.\n', 401, { 'www-authenticate': 'Bearer' });
    }
    requestPass();
    return c.text('A pass was asked for.\n', 202);
  });

  const waitForSlot = fewAtATime();
  app.use(async (_, next) => {
    await waitForSlot();
    await next();
  });
  app.route('/sign-in', signIn({ pageToken, refuse }));
  app.use(pageAccess({ pageToken, refuse }));
  get('/', async (c) => c.body(await pages.page(new URL(c.req.url).searchParams), 200, pageHeaders));
  for (const path of ['/templates/:template', '/clients/:client/templates/:template']) {
    get(path, async (c) => {
      const page = pages.template(c.req.param('template') ?? '', c.req.param('client') ?? null);
      return page === null ? c.notFound() : c.body(await page, 200, pageHeaders);
    });
  }
  get('/events', (c) => {
    // The head alone must not open a stream that nobody ends.
    if (c.req.method === 'HEAD') return c.body(null, 200, eventHeaders);
    const stream = streams.open();
    return stream === null
      ? c.text('Too many pages are listening.\n', 503, { 'retry-after': '10' })
      : c.body(stream, 200, eventHeaders);
  });
  get('/api/report', async (c) => c.body(await report(), 200, { 'content-type': 'application/json' }));
  get('/api/history', async (c) => {
    const { searchParams } = new URL(c.req.url);
    const query = readHistoryQuery(searchParams, Date.now());
    if (typeof query === 'string') return c.json({ error: query }, 400);
    const { entries, next } = await history(query, c.req.raw.signal);
    return c.json(entries, 200, next === null ? {} : { link: linkTo(searchParams, next) });
  });
  app.notFound((c) => c.text('Not found.\n', 404));
  app.onError((error, c) => {
    log.error({ event: 'request.failed', err: error }, 'a request could not be answered');
    return c.text('Internal error.\n', 500);
  });
  return app;
};

const notAllowed =
  (methods: string) =>
  (c: Context): Response =>
    c.text('Method not allowed.\n', 405, { allow: methods });

const withSecurityHeaders: MiddlewareHandler = async (c, next) => {
  // Before the answer is made: to change one takes longer.
  for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value);
  await next();
};

const pageHeaders = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': pagePolicy,
};

/** Proxies are not to keep events back until there are many. */
const eventHeaders = { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' };

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
