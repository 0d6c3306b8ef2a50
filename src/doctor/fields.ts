import { hasPlaceholder } from '../model/placeholder.ts';
import { isDescribable, type ActualRecord } from '../model/record.ts';
import type { ActualTemplate } from '../model/template.ts';
import { plural } from '../lib/plural.ts';
import { findingsAbout, type Found } from './finding.ts';

/** How the service spells the fields of records, each with an example. */
export const examineFields = (templates: readonly ActualTemplate[]): Found => {
  const { all, ok, note, problem } = findingsAbout('records');
  const own = templates.filter(({ publiclyAvailable }) => !publiclyAvailable);
  const records = own.flatMap((template) => template.records);
  const unstated = templates.filter(({ isOwnerStated }) => isOwnerStated === false).length;
  if (unstated > 0)
    problem(
      `${plural(unstated, 'template')} without publicly_available: never written, since they may be public`,
    );
  const counted = `${plural(records.length, 'record')} in ${plural(own.length, 'template')} of this client, ${templates.length - own.length} public`;
  if (records.length === 0) note(`${counted}: is the listing whole?`);
  else ok(counted);
  const types = countBy(records, ({ type }) => type);
  if (types !== '') ok(`types: ${types}`);
  const strange = records.filter((record) => !isDescribable(record));
  const unreadable = strange.find((record) => record.isUnreadable);
  if (strange.length > 0)
    note(
      `${plural(strange.length, 'record')} of other types${unreadable ? `, or unreadable (${shown(unreadable)}),` : ''} are counted, never written`,
    );
  for (const [what, describe] of aspects) {
    const kinds = new Map<string, ActualRecord>();
    for (const record of records) {
      const kind = describe(record);
      if (kind !== null && !kinds.has(kind)) kinds.set(kind, record);
    }
    if (kinds.size > 0)
      ok(`${what}: ${[...kinds].map(([kind, record]) => `${kind} (${shown(record)})`).join('; ')}`);
  }
  const placeholders = records.filter(({ name }) => name !== null && hasPlaceholder(name));
  const [example] = placeholders;
  if (example)
    note(
      `${placeholders.length} names have a placeholder, such as ${example.name}: files must spell them so; import does`,
    );
  return { findings: all };
};

/** What is told apart of a field; null where it does not concern a record. */
const aspects: readonly (readonly [what: string, describe: (record: ActualRecord) => string | null])[] = [
  [
    'the subdomain itself',
    ({ name }) => (name === null ? 'no name' : name === '' ? 'an empty name' : name === '@' ? '@' : null),
  ],
  [
    'other names',
    ({ name }) =>
      name === null || name === '' || name === '@'
        ? null
        : hasPlaceholder(name)
          ? 'with a placeholder'
          : name.endsWith('.')
            ? 'with a final dot'
            : 'as in files',
  ],
  [
    'targets',
    ({ type, content }) =>
      ['CNAME', 'MX', 'SRV', 'PTR'].includes(type.toUpperCase())
        ? content.endsWith('.')
          ? 'with a final dot'
          : 'without a final dot'
        : null,
  ],
  [
    'TXT',
    ({ type, content }) => (type === 'TXT' ? (content.startsWith('"') ? 'quoted' : 'not quoted') : null),
  ],
  ['ttl', ({ ttl }) => (ttl === null ? 'none' : 'in seconds')],
  [
    'MX',
    ({ type, content, priority }) =>
      type !== 'MX'
        ? null
        : /^\d+\s/.test(content)
          ? 'priority in the content'
          : priority === null
            ? 'no priority'
            : 'priority by itself',
  ],
];

const shown = ({ id, type, name, content, priority }: ActualRecord): string =>
  [`${id}:`, name ?? '', type, priority ?? '', content.length > 40 ? `${content.slice(0, 40)}…` : content]
    .filter((part) => part !== '')
    .join(' ');

const countBy = (records: readonly ActualRecord[], keyOf: (record: ActualRecord) => string): string => {
  const counts = new Map<string, number>();
  for (const record of records) counts.set(keyOf(record), (counts.get(keyOf(record)) ?? 0) + 1);
  return [...counts].map(([key, count]) => `${count} ${key}`).join(', ');
};
