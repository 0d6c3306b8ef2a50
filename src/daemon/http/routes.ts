import { isIP } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import { Hono, type Context, type Handler, type MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { pagePolicy } from '../../status-page/frame.ts';
import { renderNotFound, smallPagePolicy } from '../../status-page/sign-in.ts';
import type { Acting } from '../../status-page/actions.ts';
import type { Markup } from '../../report/markup.ts';
import { act, type ActOptions } from './act.ts';
import { lastAction, readSession, type TakenAction } from './act-session.ts';
import { messageOf } from '../../errors.ts';
import { bears } from './bearer.ts';
import type { PassRequests } from '../clients/client-manager.ts';
import type { FleetOwners } from '../fleet.ts';
import type { Readiness } from '../clients/client-state.ts';
import { eventStreams } from './event-stream.ts';
import { linkTo, readHistoryQuery, type HistoryPage, type HistoryQuery } from './history-query.ts';
import { pageAccess, signIn, type PageAccessOptions } from './page-access.ts';
import type { PageRefusal } from './refusals.ts';
import type { StatusPages } from './status-page.ts';
import { fewAtATime } from './request-limits.ts';
import type { ChangeFeed } from '../passes/change-feed.ts';

export interface RouteOptions extends Pick<ActOptions, 'publicUrl' | 'suspend' | 'resume' | 'redact'> {
  /** What became of an action that somebody took on a page. */
  readonly outcomeOf: (taken: TakenAction) => Markup;
  /** Lower-case host names that a request may have, beside addresses and `localhost`. */
  readonly allowedHosts: () => readonly string[];
  readonly readiness: () => Readiness;
  readonly pages: StatusPages;
  /** Notifies of changes of what pages show. */
  readonly changeFeed: ChangeFeed;
  readonly metrics: { readonly contentType: string; readonly text: Text };
  /** The newest state of every client, as JSON. */
  readonly report: Text;
  /** Whose each client is, where processes share them; null: there is one process. */
  readonly owners: () => Promise<FleetOwners | null>;
  /** The history of writes. The signal is aborted when the caller is gone. */
  readonly history: (query: HistoryQuery, signal: AbortSignal) => Promise<HistoryPage>;
  /** Allows to request a pass; null: nobody may. */
  readonly triggerToken: () => string | null;
  /** Asks for a pass of these clients, by name or pattern; of all if there are none. */
  readonly requestPass: (clients: readonly string[]) => Promise<PassRequests>;
  /** Allows to see page, events, report and history; null: everybody may. */
  readonly pageToken: () => string | null;
  /** Called for each request whose token is missing or wrong. */
  readonly onRefused: (refusal: PageRefusal) => void;
  readonly log: Logger;
}

/** A text that may be long and may be requested often: it is made once for all. */
type Text = () => Promise<Uint8Array<ArrayBuffer>>;

/**
 * Probes and metrics come first: they answer any Host, since kubelets and scrapers use addresses and names of
 * their own.
 */
export const routes = (options: RouteOptions): Hono => {
  const {
    allowedHosts,
    readiness,
    pages,
    metrics,
    report,
    history,
    owners,
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
    const token = triggerToken();
    if (token === null) return c.notFound();
    if (c.req.method !== 'POST') return notAllowed('POST')(c);
    const authorization = c.req.header('authorization');
    if (!bears(authorization, token)) {
      refuse(c, { token: 'trigger', reason: authorization === undefined ? 'missing' : 'wrong' });
      return c.text('Needs the trigger token as a bearer token.\n', 401, { 'www-authenticate': 'Bearer' });
    }
    const asked = await requestPass(c.req.queries('client')?.flatMap((text) => text.split(',')) ?? []);
    switch (asked.kind) {
      case 'asked':
        return c.json({ passes: asked.passes }, 202);
      case 'unknown':
        return c.json({ error: `there is no client ${asked.unknown.join(', ')}` }, 404);
      case 'unsure':
        return c.json(
          { error: 'PostgreSQL cannot be used now, so nobody is asked for a pass: try again' },
          503,
          {
            'retry-after': '10',
          },
        );
    }
  });

  const waitForSlot = fewAtATime();
  app.use(async (_, next) => {
    await waitForSlot();
    await next();
  });
  app.route('/sign-in', signIn({ pageToken, refuse }));
  app.use(pageAccess({ pageToken, refuse }));
  // A page token never acts, whatever else it is.
  const actToken = (): string | null => {
    const token = triggerToken();
    return token === pageToken() ? null : token;
  };
  app.route('/act', act({ ...options, actToken, refuse, addressOf }));
  const actingOf = async (c: Context): Promise<Acting> => {
    const token = actToken();
    if (token === null) return { kind: 'off' };
    const session = await readSession(c, token);
    if (session === null) return { kind: 'signed-out' };
    const taken = await lastAction(c, token);
    return {
      kind: 'signed-in',
      formToken: session.formToken,
      outcome: taken === null ? '' : options.outcomeOf(taken),
    };
  };
  get('/', async (c) =>
    c.body(await pages.page(new URL(c.req.url).searchParams, await actingOf(c)), 200, pageHeaders),
  );
  for (const path of ['/templates/:template', '/clients/:client/templates/:template']) {
    get(path, async (c) => {
      const [template = '', client = null] = [c.req.param('template'), c.req.param('client')];
      const page = pages.template(template, client, await actingOf(c));
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
    const { searchParams } = new URL(c.req.url);
    const query = readHistoryQuery(searchParams, Date.now());
    if (typeof query === 'string') return c.json({ error: query }, 400);
    const { entries, next } = await history(query, c.req.raw.signal);
    return c.json(entries, 200, next === null ? {} : { link: linkTo(searchParams, next) });
  });
  get('/api/fleet', async (c) => {
    const found = await owners().catch((error: unknown) => ({ error: messageOf(error) }));
    const known = found ?? { processes: [], clients: [] };
    return c.json(known, 'error' in known ? 503 : 200);
  });
  app.notFound((c) =>
    c.req.header('accept')?.includes('text/html') === true
      ? c.body(renderNotFound(), 404, notFoundHeaders)
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
