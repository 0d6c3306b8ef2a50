import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { shorten } from '../report/columns.ts';
import { rowsOf, shownMessage } from '../report/row.ts';
import { rowLines } from '../report/text.ts';
import { resuming } from '../report/to-do.ts';
import type { NotifiedChange, Notification } from './schema.ts';

/** A message in Slack's format: `text` is the summary, blocks show the details. */
export const slackMessageOf = ({ changes }: Notification): object => ({
  text: limited(changes.map(headline), maxText),
  unfurl_links: false,
  unfurl_media: false,
  blocks: changes.map((change) => ({
    type: 'section',
    // Verbatim: text that looks like a link does not become one.
    text: { type: 'mrkdwn', verbatim: true, text: blockOf(change) },
  })),
});

/** Slack takes 3,000 characters in a block. Of the text it shows 4,000. */
const maxBlock = 2_900;
const maxDetails = 1_900;
const maxText = 3_900;
const maxRows = 5;

const headline = (change: NotifiedChange): string => {
  const { event, client, template, message } = change;
  const who = `client ${code(client, 100)}`;
  const of = client === 'default' ? '' : ` (${who})`;
  const why = message === null ? '' : `: ${code(shownMessage(message), 300)}`;
  return `*${template === null ? who : code(template, 100) + of}* ${sayings[event](change)}${why}`;
};

const sayings: Record<NotifiedChange['event'], (change: NotifiedChange) => string> = {
  drift: ({ counts: { differences, subdomains } }) =>
    [
      differences > 0 ? `${plural(differences, 'difference')} between file and service` : [],
      subdomains > 0 ? `${plural(subdomains, 'subdomain')} with other records` : [],
    ]
      .flat()
      .join(', ') || 'differs',
  mended: ({ counts }) => `was changed at the service: ${plural(counts.mended, 'difference')} corrected`,
  suspended: () => 'is suspended: nothing is written',
  held: () => 'is held, and waits for a person',
  failed: ({ template }) => (template === null ? 'cannot be synchronised' : 'failed'),
  unknown: () => 'has a write of unknown outcome',
  cleared: ({ template }) => (template === null ? 'works again' : 'is in sync again'),
};

/** The headline, links, and what differs as in a terminal: in a block that nothing in it ends. */
const blockOf = (change: NotifiedChange): string => {
  const { client, template, state, message, link, commit, counts, differences, subdomains, retryAt } = change;
  const shown = differences.slice(0, maxRows);
  const more = counts.differences + counts.mended - shown.length;
  const details = [
    ...rowLines(rowsOf(template ?? '', shown, message, retryAt === undefined), 0, 80).map(([line]) => line),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(template !== null && state === 'suspended' ? [`To do: ${resuming(template, client)}`] : []),
    ...subdomains.slice(0, maxRows).map((name) => `see ${escapeControl(name)}`),
  ].map((line) => escaped(line).replaceAll(/`{3,}/g, '…'));
  const lines = [
    headline(change),
    link === undefined ? [] : `<${link}|Open the page>`,
    commit === undefined
      ? []
      : `commit <${escaped(commit.url.replaceAll('|', '%7C'))}|${escaped(commit.revision.slice(0, 10))}>`,
    details.length === 0 ? [] : `\`\`\`\n${limited(details, maxDetails)}\n\`\`\``,
  ];
  return limited(lines.flat(), maxBlock);
};

/** Foreign text as code: mentions, links and markup have no effect there. A block holds it even if all of it is escaped. */
const code = (text: string, width: number): string =>
  `\`${escaped(shorten(escapeControl(text), width).replaceAll('`', "'"))}\``;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** As many whole lines as fit. */
const limited = (lines: readonly string[], room: number): string => {
  let left = room;
  const fit = lines.findIndex((line) => (left -= line.length + 1) < 2);
  return fit === -1 ? lines.join('\n') : [...lines.slice(0, fit), '…'].join('\n');
};
