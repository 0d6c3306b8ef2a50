import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Difference } from '../plan/difference.ts';
import { shorten } from '../report/columns.ts';
import { rowOf } from '../report/row.ts';
import { toDosOf } from '../report/to-do.ts';
import { statusWords } from '../report/view.ts';
import type { HealthChange } from './health-change.ts';
import { linkOf, shownDifferences, type Delivery } from './delivery.ts';

/** A message in Slack's format: `text` is the summary, blocks show the details. */
export const slackMessageOf = ({ changes }: Delivery, publicUrl: string | null = null): object => ({
  text: limited(changes.map(headline), maxTextLength),
  unfurl_links: false,
  unfurl_media: false,
  blocks: changes.map((change) => ({
    type: 'section',
    // Verbatim: text that looks like a link does not become one.
    text: { type: 'mrkdwn', verbatim: true, text: limited(linesOf(change, publicUrl), maxBlockLength) },
  })),
});

/** Slack takes 3,000 characters in a block. Of the text it shows 4,000. */
const maxBlockLength = 2_900;
const maxTextLength = 3_900;
const maxRows = 5;
const maxToDos = 3;

const linesOf = (change: HealthChange, publicUrl: string | null): string[] => {
  const { health } = change;
  const shown = shownDifferences(health, maxRows);
  const more = health.differences.length + health.corrected.length - shown.length;
  return [
    headline(change),
    ...(publicUrl === null ? [] : [`<${linkOf(change, publicUrl)}|Open the page>`]),
    ...commitLine(health),
    ...shown.map((difference) => code(wordsOf(difference), maxRowLength)),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...toDoLines(health),
    ...health.subdomains
      .slice(0, maxRows)
      .map((one) => `${code(one.subdomain, maxNameLength)} ${wordOf(one)}`),
  ];
};

/** What a person can do, each once. Which record a pass would rename is not known here. */
const toDoLines = ({ template, differences }: HealthChange['health']): string[] => {
  if (template === null) return [];
  const toDos = toDosOf({ template, differences, parked: null });
  const texts = new Set([...toDos.values()].map(({ shared }) => shared));
  return [...texts].slice(0, maxToDos).map((text) => `To do: ${escaped(text)}`);
};

/** The commit of the file: what has changed is the first question of everybody. */
const commitLine = ({ commit }: HealthChange['health']): string[] =>
  commit === undefined
    ? []
    : [`commit <${escaped(commit.url.replaceAll('|', '%7C'))}|${escaped(commit.revision.slice(0, 10))}>`];

const headline = (change: HealthChange): string => {
  const { client, health, merged } = change;
  const { template, message } = health;
  const who = `client ${code(client, maxNameLength)}`;
  const whole = template === null ? who : `${code(template, maxNameLength)} (${who})`;
  const reason = message ?? errorIn(change);
  const why = reason === null ? '' : `: ${code(reason, maxMessageLength)}`;
  return `*${whole}* ${sayings[change.event](change)}${why}${merged > 1 ? ` (${merged} changes in one)` : ''}`;
};

/** A template has no message of its own if a write failed, or if a subdomain cannot be read. */
const errorIn = ({ event, health: { differences, subdomains } }: HealthChange): string | null => {
  if (event !== 'failed' && event !== 'unknown') return null;
  const error = differences.find(({ outcome }) => outcome === event)?.error;
  if (error !== undefined || event === 'unknown') return error ?? null;
  const refused = differences.find((one) => one.action === 'blocked' && one.reason === 'refused');
  const unread = subdomains.find(({ status }) => status === 'failed');
  return refused?.action === 'blocked' ? refused.message : (unread?.message ?? null);
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
          ? [`${plural(answered.length, 'subdomain')} with other answers from name servers`]
          : []),
      ].join(', ') || statusWords.drifted
    );
  },
  mended: ({ health: { corrected } }) =>
    `was changed at the service: ${plural(corrected.length, 'difference')} corrected`,
  suspended: () => 'is suspended: nothing is written',
  held: () => 'is held, and waits for a person',
  failed: ({ health }) => (health.template === null ? 'cannot be synchronised' : 'failed'),
  unknown: () => 'has a write of unknown outcome',
  cleared: ({ health }) => (health.template === null ? 'works again' : 'is in sync again'),
};

const wordOf = (subdomain: ShownSubdomain): string => {
  const { status, answers } = subdomain;
  const isShown = isAnsweredOtherwise(subdomain) && answers.status !== 'off';
  return isShown ? `name servers ${statusWords[answers.status]}` : statusWords[status];
};

type ShownSubdomain = Pick<HealthChange['health']['subdomains'][number], 'status' | 'answers'>;

const isAnsweredOtherwise = ({ status, answers }: ShownSubdomain): boolean =>
  status !== 'drifted' && status !== 'failed' && answers.status !== 'off';

const wordsOf = (difference: Difference): string => {
  const { sign, word, type, name, values } = rowOf(difference);
  const parts = values.flatMap((value) => {
    if (value.isChanged) return `${value.label}${short(value.actual)} → ${short(value.desired)}`;
    return value.label === '' ? short(value.text) : [];
  });
  return [sign, word, type, short(name), ...parts].join(' ');
};

const short = (text: string): string => shorten(text, 60);

/** Fits into a block even if each character takes five when escaped. */
const maxNameLength = 100;
const maxMessageLength = 300;
const maxRowLength = 400;

/** Foreign text as code: mentions, links and markup have no effect there. */
const code = (text: string, width: number): string =>
  `\`${escaped(shorten(escapeControl(text), width).replaceAll('`', "'"))}\``;

const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (sign) => entities[sign] ?? sign);

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** As many whole lines as fit. */
const limited = (lines: readonly string[], room: number): string => {
  let text = '';
  for (const line of lines) {
    if (text.length + line.length + 2 > room) return `${text}\n…`;
    text += `${text === '' ? '' : '\n'}${line}`;
  }
  return text;
};
