import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Difference } from '../plan/difference.ts';
import { shorten } from '../report/columns.ts';
import { rowOf } from '../report/row.ts';
import { toDosOf } from '../report/to-do.ts';
import { statusWords } from '../report/view.ts';
import type { TemplateHealth } from './health.ts';
import type { Delivery, HealthChange } from './news.ts';
import { linkOf } from './webhook.ts';

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
  const { counts, differences, subdomains, ...health } = change.health;
  const shown = differences.slice(0, maxRows);
  const more = counts.differences + counts.mended - shown.length;
  return [
    headline(change),
    ...(publicUrl === null ? [] : [`<${linkOf(change, publicUrl)}|Open the page>`]),
    ...commitLine(health),
    ...shown.map((difference) => code(wordsOf(difference), maxRowLength)),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...toDoLines(change.health),
    ...subdomains.slice(0, maxRows).map(({ name, words }) => `${code(name, maxNameLength)} ${words}`),
  ];
};

/** What a person can do, each once. Which record a pass would rename is not known here. */
const toDoLines = ({ template, differences }: TemplateHealth): string[] => {
  if (template === null) return [];
  const left = differences.filter(({ outcome }) => outcome !== 'applied');
  const toDos = toDosOf({ template, differences: left, parked: null });
  const texts = new Set([...toDos.values()].map(({ shared }) => shared));
  return [...texts].slice(0, maxToDos).map((text) => `To do: ${escaped(text)}`);
};

/** The commit of the file: what has changed is the first question of everybody. */
const commitLine = ({ commit }: Pick<TemplateHealth, 'commit'>): string[] =>
  commit === undefined
    ? []
    : [`commit <${escaped(commit.url.replaceAll('|', '%7C'))}|${escaped(commit.revision.slice(0, 10))}>`];

const headline = (change: HealthChange): string => {
  const { client, health, merged } = change;
  const { template, message } = health;
  const who = `client ${code(client, maxNameLength)}`;
  const whole = template === null ? who : `${code(template, maxNameLength)} (${who})`;
  const why = message === null ? '' : `: ${code(message, maxMessageLength)}`;
  return `*${whole}* ${sayings[change.event](health)}${why}${merged > 1 ? ` (${merged} changes in one)` : ''}`;
};

const sayings: Record<HealthChange['event'], (health: TemplateHealth) => string> = {
  drift: ({ counts: { differences, subdomains, answers } }) => {
    const behind = subdomains - answers;
    const parts = [
      differences > 0 ? `${plural(differences, 'difference')} between file and service` : [],
      behind > 0 ? `${plural(behind, 'subdomain')} behind` : [],
      answers > 0 ? `${plural(answers, 'subdomain')} with other answers from name servers` : [],
    ];
    return parts.flat().join(', ') || statusWords.drifted;
  },
  mended: ({ counts }) => `was changed at the service: ${plural(counts.mended, 'difference')} corrected`,
  suspended: () => 'is suspended: nothing is written',
  held: () => 'is held, and waits for a person',
  failed: ({ template }) => (template === null ? 'cannot be synchronised' : 'failed'),
  unknown: () => 'has a write of unknown outcome',
  cleared: ({ template }) => (template === null ? 'works again' : 'is in sync again'),
};

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
