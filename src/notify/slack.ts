import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { shorten } from '../report/columns.ts';
import { rowOf } from '../report/row.ts';
import { toDosOf } from '../report/to-do.ts';
import { statusWords } from '../report/view.ts';
import type { Change, Notification } from './schema.ts';

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
  const { event, client, template, message, merged } = change;
  const who = `client ${code(client, 100)}`;
  const whole = template === null ? who : `${code(template, 100)} (${who})`;
  const why = message === null ? '' : `: ${code(message, 300)}`;
  return `*${whole}* ${sayings[event](change)}${why}${merged > 1 ? ` (${merged} changes in one)` : ''}`;
};

const sayings: Record<Change['event'], (change: Change) => string> = {
  drift: ({ counts: { differences, subdomains } }) => {
    const parts = [
      differences > 0 ? `${plural(differences, 'difference')} between file and service` : [],
      subdomains > 0 ? `${plural(subdomains, 'subdomain')} with other records` : [],
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

const linesOf = (change: Change): string[] => {
  const { template, link, commit, counts, differences, subdomains } = change;
  const more = counts.differences + counts.mended - Math.min(differences.length, maxRows);
  const left = differences.filter(({ outcome }) => outcome !== 'applied');
  // Which record a pass would rename is not known here.
  const toDos = template === null ? [] : toDosOf({ template, differences: left, parked: null }).values();
  return [
    headline(change),
    ...(link === undefined ? [] : [`<${link}|Open the page>`]),
    // What has changed is the first question of everybody.
    ...(commit === undefined
      ? []
      : [`commit <${escaped(commit.url.replaceAll('|', '%7C'))}|${escaped(commit.revision.slice(0, 10))}>`]),
    ...differences.slice(0, maxRows).map((difference) => code(wordsOf(difference), 400)),
    ...(more > 0 ? [`and ${more} more`] : []),
    ...[...new Set(Array.from(toDos, ({ shared }) => `To do: ${escaped(shared)}`))].slice(0, 3),
    ...subdomains.slice(0, maxRows).map((name) => `see ${code(name, 100)}`),
  ];
};

const wordsOf = (difference: Change['differences'][number]): string => {
  const { sign, word, type, name, values } = rowOf(difference);
  const parts = values.flatMap((value) => {
    if (value.desired !== null)
      return `${value.label}${shorten(value.text, 60)} → ${shorten(value.desired, 60)}`;
    return value.label === '' ? shorten(value.text, 60) : [];
  });
  return [sign, word, type, shorten(name, 60), ...parts].join(' ');
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
