import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Difference } from '../plan/difference.ts';
import { shorten } from '../report/columns.ts';
import { rowOf } from '../report/row.ts';
import type { HealthChange } from './health-change.ts';
import { linkOf, shownDifferences, type Delivery } from './delivery.ts';

/** A message for Slack, and for those that take its form: `text` says it all in short, blocks show it. */
export const slackMessageOf = ({ changes }: Delivery, publicUrl: string | null = null): object => ({
  text: limited(changes.map(headline), maxTextLength),
  unfurl_links: false,
  unfurl_media: false,
  blocks: changes.map((change) => ({
    type: 'section',
    // Verbatim: no links are made out of what only looks like one.
    text: { type: 'mrkdwn', verbatim: true, text: limited(linesOf(change, publicUrl), maxBlockLength) },
  })),
});

/** Slack takes 3,000 characters in a block. Of the text it shows 4,000. */
const maxBlockLength = 2_900;
const maxTextLength = 3_900;
const maxRows = 5;

const linesOf = (change: HealthChange, publicUrl: string | null): string[] => {
  const { health } = change;
  const shown = shownDifferences(health, maxRows);
  const more = health.differences.length + health.corrected.length - shown.length;
  return [
    headline(change),
    ...(publicUrl === null ? [] : [`<${linkOf(change, publicUrl)}|Look at it>`]),
    ...shown.map((difference) => code(wordsOf(difference), maxRowLength)),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...health.subdomains
      .slice(0, maxRows)
      .map(
        ({ subdomain, status, answers }) =>
          `${code(subdomain, maxNameLength)} ${isAnsweredOtherwise({ status, answers }) ? `name servers ${answers.status}` : status}`,
      ),
  ];
};

const headline = (change: HealthChange): string => {
  const { client, health, merged } = change;
  const { template, message } = health;
  const who = `client ${code(client, maxNameLength)}`;
  const whole = template === null ? who : `${code(template, maxNameLength)} (${who})`;
  const why = message === null ? '' : `: ${code(message, maxMessageLength)}`;
  return `*${whole}* ${sayings[change.event](change)}${why}${merged > 1 ? ` (${merged} changes in one)` : ''}`;
};

const sayings: Record<HealthChange['event'], (change: HealthChange) => string> = {
  drift: ({ health: { differences, subdomains: all } }) => {
    const answered = all.filter(isAnsweredOtherwise);
    const subdomains = all.filter((one) => !isAnsweredOtherwise(one));
    return (
      [
        ...(differences.length > 0
          ? [`${plural(differences.length, 'difference')} between file and service`]
          : []),
        ...(subdomains.length > 0 ? [`${plural(subdomains.length, 'subdomain')} behind`] : []),
        ...(answered.length > 0
          ? [`${plural(answered.length, 'subdomain')} answered otherwise by name servers`]
          : []),
      ].join(', ') || 'drifted'
    );
  },
  mended: ({ health: { corrected } }) =>
    `was changed at the service: ${plural(corrected.length, 'difference')} set right`,
  held: () => 'is held, and waits for a person',
  failed: ({ health }) => (health.template === null ? 'cannot be synchronised' : 'failed'),
  unknown: () => 'has a write of unknown outcome',
  cleared: ({ health }) => (health.template === null ? 'goes on again' : 'is in sync again'),
};

const isAnsweredOtherwise = ({
  status,
  answers,
}: Pick<HealthChange['health']['subdomains'][number], 'status' | 'answers'>): boolean =>
  status !== 'drifted' && status !== 'failed' && answers.status !== 'off';

const wordsOf = (difference: Difference): string => {
  const { symbol, word, type, name, content, changes } = rowOf(difference, '');
  const parts = changes.map(
    ({ field, from, to }) => `${field === 'content' ? '' : `${field} `}${short(from)} → ${short(to)}`,
  );
  return [symbol, word, type, short(name), ...(content === null ? [] : [short(content)]), ...parts].join(' ');
};

const short = (text: string): string => shorten(text, 60);

/** A block has room for each of them, although a sign may take five characters. */
const maxNameLength = 100;
const maxMessageLength = 300;
const maxRowLength = 400;

/** Text from elsewhere. In code nobody is notified, nothing is a link, and no sign has a meaning. */
const code = (text: string, width: number): string =>
  `\`${shorten(escapeControl(text), width)
    .replaceAll('`', "'")
    .replaceAll(/[&<>]/g, (sign) => entities[sign] ?? sign)}\``;

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** As many whole lines as there is room for. */
const limited = (lines: readonly string[], room: number): string => {
  let text = '';
  for (const line of lines) {
    if (text.length + line.length + 2 > room) return `${text}\n…`;
    text += `${text === '' ? '' : '\n'}${line}`;
  }
  return text;
};
