import { createHmac } from 'node:crypto';
import { UserError } from '../errors.ts';
import { readRetryAfter } from '../lib/backoff.ts';
import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { credentialsIn } from '../model/route.ts';
import { basic } from '../network/connect.ts';
import { exchange, isSuccess } from '../network/exchange.ts';
import { templateAddress } from '../report/address.ts';
import { shorten } from '../report/columns.ts';
import { rowsOf, shownMessage, wordOf, type ReportRow } from '../report/row.ts';
import { rowLines } from '../report/text.ts';
import { resuming } from '../report/to-do.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import { WireError } from '../network/wire-error.ts';
import { quiet } from './news.ts';
import type { Delivery } from './outbox.ts';
import type { Change, Notification } from './schema.ts';

/**
 * `failed`: another try may succeed. `refused`: the receiver will never accept this message. Reasons contain neither the
 * address, which may be a secret, nor the receiver's answer, which may repeat it.
 */
export type Posted =
  | { readonly outcome: 'delivered' }
  | { readonly outcome: 'failed' | 'refused'; readonly reason: string; readonly retryAfter: number };

/** Makes one attempt, over a new connection. Address and secret are read anew: they may have been replaced. An unreadable address or secret is a failed attempt. */
export const post = async (
  delivery: Delivery,
  { type, url, routeTo, secret, timeout, publicUrl }: NotifyReceiver,
  signal: AbortSignal,
): Promise<Posted> => {
  const notification = notificationOf(delivery, publicUrl);
  const body = JSON.stringify(type === 'slack' ? slackMessageOf(notification) : notification);
  let through = '';
  try {
    const address = url.read();
    const { origin, pathname, search } = new URL(address);
    const credentials = credentialsIn(address);
    const route = routeTo(address);
    through = route.proxy === null ? '' : `, through the proxy ${route.proxy.shown} (${route.proxy.place})`;
    const { status, headers } = await exchange({
      kind: 'message',
      origin,
      path: pathname + search,
      route,
      headers: {
        'content-type': 'application/json',
        ...(credentials === '' ? {} : { authorization: basic(credentials) }),
        ...(type === 'slack' ? {} : signedHeaders(delivery.id, body, secret?.read() ?? null)),
      },
      body,
      timeout,
      signal,
      maxSize: 65_536,
    });
    if (isSuccess(status)) return { outcome: 'delivered' };
    const isRedirect = status >= 300 && status < 400;
    return {
      outcome: refusals.has(status) ? 'refused' : 'failed',
      reason: `the receiver answered ${status}${isRedirect ? ', and redirects are not followed' : ''}`,
      retryAfter: Math.min(readRetryAfter(headers['retry-after'], Date.now()) ?? 0, maxWait),
    };
  } catch (error) {
    const reason = error instanceof UserError ? error.message : wireReason(error, timeout, through);
    return { outcome: 'failed', reason, retryAfter: 0 };
  }
};

/** Sends a test message once. Returns why it was not accepted; null if it was. */
export const sendTest = async (settings: NotifyReceiver, id: string): Promise<string | null> => {
  const at = new Date().toISOString();
  const message = 'this is a test: messages reach this receiver';
  const test = { event: 'cleared', client: 'test', previous: 'in-sync', run: id, at } as const;
  const change: Change = { ...test, ...quiet, message };
  const posted = await post({ id, createdAt: at, changes: [change] }, settings, new AbortController().signal);
  return posted.outcome === 'delivered' ? null : posted.reason;
};

const notificationOf = ({ id, createdAt, changes }: Delivery, publicUrl: string | null): Notification => ({
  schema: 'dns-template-sync/notification/v1',
  delivery: id,
  createdAt,
  changes: changes.map((change) => ({
    ...change,
    ...(publicUrl === null ? {} : { link: `${publicUrl}/${pathOf(change)}` }),
  })),
});

/** On the status page. */
const pathOf = ({ client, template }: Change): string =>
  template === null ? '' : templateAddress(template, client === 'default' ? null : client);

/**
 * The headers by which a receiver verifies a message, in the form of the Standard Webhooks specification, so that its
 * libraries check it: the message's id, the time of this attempt, and if there is a secret, `v1,` and the base64
 * HMAC-SHA256 of `ID.TIME.BODY`. A secret `whsec_…` is the base64 of the key.
 */
const signedHeaders = (id: string, body: string, secret: string | null): Record<string, string> => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (secret === null) return headers;
  const encoded = /^whsec_(.*)$/s.exec(secret)?.[1];
  const key = encoded === undefined ? Buffer.from(secret) : Buffer.from(encoded, 'base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${digest}` };
};

/** Statuses that concern the message itself. Others concern address, permission or load, which can be fixed. */
const refusals = new Set([400, 406, 413, 415, 422]);

/** Milliseconds; the receiver may ask for more. */
const maxWait = 3_600_000;

const wireReason = (error: unknown, timeout: number, through: string): string => {
  if (!(error instanceof WireError)) throw error;
  switch (error.fault) {
    case 'timeout':
      return `no answer within ${timeout} ms`;
    case 'aborted':
      return 'cut off: this program is ending';
    case 'proxy':
      return error.message;
    case 'network':
    case 'too-large':
      return error.code + through;
  }
};

/** A message in Slack's format: `text` is the summary, blocks show the details. */
export const slackMessageOf = ({ changes }: Notification): object => ({
  text: limited(changes.map(headline), maxText),
  unfurl_links: false,
  unfurl_media: false,
  blocks: changes.map((change) => ({
    type: 'section',
    // Verbatim: text that looks like a link does not become one.
    text: { type: 'mrkdwn', verbatim: true, text: limited(linesOf(change), maxBlock) },
  })),
});

/** Slack takes 3,000 characters in a block. Of the text it shows 4,000. */
const maxBlock = 2_900;
const maxText = 3_900;
const maxRows = 5;

const headline = (change: Change): string => {
  const { event, client, template, message } = change;
  const who = `client ${code(client, 100)}`;
  const of = client === 'default' ? '' : ` (${who})`;
  const why = message === null ? '' : `: ${code(shownMessage(message), 300)}`;
  return `*${template === null ? who : code(template, 100) + of}* ${sayings[event](change)}${why}`;
};

const sayings: Record<Change['event'], (change: Change) => string> = {
  drift: ({ counts: { differences, subdomains } }) => {
    const parts = [
      differences > 0 ? `${plural(differences, 'difference')} between file and service` : [],
      subdomains > 0 ? `${plural(subdomains, 'subdomain')} with other records` : [],
    ];
    return parts.flat().join(', ') || wordOf('drifted');
  },
  mended: ({ counts }) => `was changed at the service: ${plural(counts.mended, 'difference')} corrected`,
  suspended: () => 'is suspended: nothing is written',
  held: () => 'is held, and waits for a person',
  failed: ({ template }) => (template === null ? 'cannot be synchronised' : 'failed'),
  unknown: () => 'has a write of unknown outcome',
  cleared: ({ template }) => (template === null ? 'works again' : 'is in sync again'),
};

const linesOf = (change: Change): string[] => {
  const { template, state, message, link, commit, counts, differences, subdomains } = change;
  const shown = differences.slice(0, maxRows);
  const more = counts.differences + counts.mended - shown.length;
  return [
    headline(change),
    ...(link === undefined ? [] : [`<${link}|Open the page>`]),
    // What has changed is the first question of everybody.
    ...(commit === undefined
      ? []
      : [`commit <${escaped(commit.url.replaceAll('|', '%7C'))}|${escaped(commit.revision.slice(0, 10))}>`]),
    ...(shown.length === 0 ? [] : [asInTerminal(rowsOf(template ?? '', shown, message))]),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(template !== null && state === 'suspended' ? [`To do: ${escaped(resuming(template))}`] : []),
    ...subdomains.slice(0, maxRows).map((name) => `see ${code(name, 100)}`),
  ];
};

/** In a block that nothing in it ends. */
const asInTerminal = (rows: readonly ReportRow[]): string => {
  const lines = rowLines(rows, 0, 80).map(([line]) => escaped(line).replaceAll(/`{3,}/g, '…'));
  return `\`\`\`\n${limited(lines, 1_900)}\n\`\`\``;
};

/** Foreign text as code: mentions, links and markup have no effect there. A block holds it even if all of it is escaped. */
const code = (text: string, width: number): string =>
  `\`${escaped(shorten(escapeControl(text), width).replaceAll('`', "'"))}\``;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** As many whole lines as fit. */
const limited = (lines: readonly string[], room: number): string => {
  let text = '';
  for (const line of lines) {
    if (text.length + line.length + 3 > room) return `${text}\n…`;
    text += `${text === '' ? '' : '\n'}${line}`;
  }
  return text;
};
