import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context, type Handler, type MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { messageOf } from '../../errors.ts';
import type { Reader } from '../../status-page/facts.ts';
import { pagePolicy, smallPagePolicy } from '../../status-page/frame.ts';
import { readPageQuery, rootOf, type PageQuery } from '../../status-page/query.ts';
import { renderNotFound } from '../../status-page/small-pages.ts';
import type { Readiness } from '../clients/client-state.ts';
import type { FleetOwners } from '../fleet.ts';
import type { ChangeFeed } from '../passes/change-feed.ts';
import { actions, pageOfOurs, signInPage, type ActionOptions } from './actions.ts';
import { eventStreams } from './event-stream.ts';
import { readHistoryQuery, type HistoryQuery } from './history-query.ts';
import type { PageRefusal } from './refusals.ts';
import type { Text } from './shared-texts.ts';
import { signIn, type SignInOptions } from './sign-in.ts';

export interface RouteOptions
  extends SignInOptions, Pick<ActionOptions, 'suspend' | 'resume' | 'redact' | 'requestPass'> {
  /** Lower-case host names that a request may have, beside addresses and `localhost`. */
  readonly allowedHosts: () => readonly string[];
  readonly readiness: () => Readiness;
  readonly pages: Pages;
  /** Notifies of changes of what pages show. */
  readonly changeFeed: ChangeFeed;
  readonly metrics: { readonly contentType: string; readonly text: () => Promise<string> };
  /** The newest state of every client, as JSON. */
  readonly report: Text;
  /** Whose each client is, where processes share them; null: there is one process. */
  readonly owners: () => Promise<FleetOwners | null>;
  /** The history of writes, the oldest first. The signal is aborted when the caller is gone. */
  readonly history: (query: HistoryQuery, signal: AbortSignal) => Promise<readonly unknown[]>;
  /** Called for each request whose token is missing or wrong. */
  readonly onRefused: (refusal: PageRefusal) => void;
  readonly log: Logger;
}

/** The pages, for somebody who may do this. */
export interface Pages {
  readonly overview: (query: PageQuery, reader: Reader) => ReturnType<Text>;
  /** The templates of this name, of one client or of all; null if there is none. */
  readonly template: (name: string, query: PageQuery, reader: Reader) => ReturnType<Text> | null;
  /** The last writes. */
  readonly writes: (reader: Reader) => ReturnType<Text>;
}

/**
 * Probes and metrics come first: they answer any Host, since kubelets and scrapers use addresses and names of
 * their own.
 */
export const routes = (options: RouteOptions): Hono => {
  const { allowedHosts, readiness, pages, metrics, report, history, owners, triggerToken, log } = options;
  const streams = eventStreams(options.changeFeed);
  const access = signIn(options);
  const app = new Hono();
  const get = (path: string, answer: Handler): void => {
    app.get(path, answer);
    app.all(path, notAllowed('GET, HEAD'));
  };
  const refuse: ActionOptions['refuse'] = (c, refusal) =>
    options.onRefused({ ...refusal, address: addressOf(c) });
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

  app.all('/api/reconcile', async (c) => {
    if (triggerToken() === null) return c.notFound();
    if (c.req.method !== 'POST') return notAllowed('POST')(c);
    const authorization = c.req.header('authorization');
    if (!access.triggers(authorization)) {
      refuse(c, { token: 'trigger', reason: authorization === undefined ? 'missing' : 'wrong' });
      return c.text('Needs the trigger token as a bearer token.\n', 401, { 'www-authenticate': 'Bearer' });
    }
    const asked = await options.requestPass(
      c.req.queries('client')?.flatMap((text) => text.split(',')) ?? [],
    );
    if (asked.kind === 'asked') return c.json({ passes: asked.passes }, 202);
    if (asked.kind === 'unknown')
      return c.json({ error: `there is no client ${asked.unknown.join(', ')}` }, 404);
    const error = 'PostgreSQL cannot be used now, so nobody is asked for a pass: try again';
    return c.json({ error }, 503, { 'retry-after': '10' });
  });

  app.route('/', actions({ ...options, signIn: access, refuse, addressOf }));
  app.use(async (c, next) => {
    const authorization = c.req.header('authorization');
    const isReader = async (): Promise<boolean> =>
      access.bearer(authorization) !== null || (await access.session(c)) !== null;
    if (!access.isClosed() || (await isReader())) return next();
    const isBrowser = c.req.header('accept')?.includes('text/html') === true;
    // Opening the page for the first time is no failed attempt.
    if (authorization !== undefined || !isBrowser)
      refuse(c, { token: 'page', reason: authorization === undefined ? 'missing' : 'wrong' });
    const { pathname, search } = new URL(c.req.url);
    if (isBrowser)
      return signInPage(c, access, { next: pageOfOurs(`${pathname}${search}`.slice(1)), status: 401 });
    return c.text('Needs the page token as a bearer token, or a sign-in.\n', 401, {
      'www-authenticate': 'Bearer',
    });
  });
  const readerOf = async (c: Context): Promise<Reader> => ({
    role: (await access.session(c))?.role ?? null,
    canAct: access.canAct(),
  });
  const queryOf = (c: Context): PageQuery => readPageQuery(new URL(c.req.url).searchParams, Date.now());
  get('/', async (c) => c.body(await pages.overview(queryOf(c), await readerOf(c)), 200, pageHeaders));
  get('/writes', async (c) => c.body(await pages.writes(await readerOf(c)), 200, pageHeaders));
  // A proxy may have decoded a slash in a name.
  for (const path of ['/templates/:template{.+}', '/clients/:client/templates/:template{.+}']) {
    get(path, async (c) => {
      const query = { ...queryOf(c), client: c.req.param('client') ?? null };
      const page = pages.template(c.req.param('template') ?? '', query, await readerOf(c));
      return page === null ? c.notFound() : c.body(await page, 200, pageHeaders);
    });
  }
  get('/events', (c) => {
    // HEAD must not open a stream, since nobody would close it.
    if (c.req.method === 'HEAD') return c.body(null, 200, eventHeaders);
    const stream = streams.open();
    return stream === null
      ? c.text('Too many pages are listening.\n', 503, { 'retry-after': '10' })
      : c.body(stream, 200, eventHeaders);
  });
  get('/api/report', async (c) => c.body(await report(), 200, { 'content-type': 'application/json' }));
  get('/api/history', async (c) => {
    const query = readHistoryQuery(new URL(c.req.url).searchParams, Date.now());
    if (typeof query === 'string') return c.json({ error: query }, 400);
    return c.json(await history(query, c.req.raw.signal));
  });
  get('/api/fleet', async (c) => {
    const found = await owners().catch((error: unknown) => ({ error: messageOf(error) }));
    const known = found ?? { processes: [], clients: [] };
    return c.json(known, 'error' in known ? 503 : 200);
  });
  app.notFound((c) =>
    c.req.header('accept')?.includes('text/html') === true
      ? c.body(renderNotFound(rootOf(c.req.path)), 404, notFoundHeaders)
      : c.text('Not found.\n', 404),
  );
  app.onError((error, c) => {
    log.error({ event: 'request.failed', err: error }, 'request failed: unexpected error');
    return c.text('Internal error.\n', 500);
  });
  return app;
};

const addressOf = (c: Context): string => getConnInfo(c).remote.address ?? '';

const notAllowed =
  (methods: string) =>
  (c: Context): Response =>
    c.text('Method not allowed.\n', 405, { allow: methods });

const withSecurityHeaders: MiddlewareHandler = async (c, next) => {
  // Set before the answer is made, which is faster than changing it.
  for (const [name, value] of Object.entries(securityHeaders)) c.header(name, value);
  await next();
};

const pageHeaders = {
  'content-type': 'text/html; charset=UTF-8',
  'content-security-policy': pagePolicy,
  // With no-referrer, browsers would not send the origin of a form.
  'referrer-policy': 'same-origin',
};

const notFoundHeaders = { ...pageHeaders, 'content-security-policy': smallPagePolicy };

/** Tells proxies not to buffer events. */
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

/**
 * Whether this Host header names us. A foreign web page can make a browser send requests here under its own
 * host name (DNS rebinding), but not under an address or a name that we know.
 */
const isKnownHost = (header: string | undefined, allowed: readonly string[]): boolean => {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::\d{1,5})?$/.exec(header ?? '');
  const host = (match?.[1] ?? match?.[2] ?? '').toLowerCase();
  return isIP(host) !== 0 || host === 'localhost' || allowed.includes(host);
};
