import { sameData } from '../../model/canonical.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { isQuotedText, quoteOctets } from '../../model/quoted-text.ts';
import type { ActualRecord } from '../../model/record.ts';
import { definitionOf } from '../../model/types/table.ts';
import type { ActualEntry } from '../../plan/entry.ts';
import { statableTtl } from '../entry.ts';
import { sortOut } from '../write.ts';
import { zoneEntries, ZoneMistake } from './entries.ts';
import { recordsIn } from './read-zone.ts';

/**
 * The records of a template as lines of a zone file, which `readZone` reads as the same records. Others become comments:
 * those that no file describes, those with a placeholder, those that `redact` changes, and those whose line would be another
 * record. `origin` as for `readZone`; without one, owners are relative, for a zone of any name (RFC 1035 §5.1).
 */
export const writeZone = (
  records: readonly ActualRecord[],
  origin: string | null,
  redact = (text: string): string => text,
): string => {
  const stated = records.map((record) => ({ ...record, ttl: statableTtl(record) }));
  const whyNot = (entry: ActualEntry): string | null => {
    // Its line may join what is apart in the record.
    const said = [entry.record.name, entry.record.content, lineOf(entry, origin)].join('\n');
    return redact(said) === said ? whyOther(entry, origin ?? anyOrigin) : 'contains a token';
  };
  const { desired, remarks } = sortOut(stated, { whyNot });
  const lines = [
    '; SOA and NS records, which a zone needs, are no part of a template.',
    ...desired.map((entry) => lineOf(entry, origin)),
    ...(remarks.length === 0 ? [] : ['; Not in this file:', ...remarks.map((remark) => `; - ${remark}`)]),
  ];
  return lines.map((line) => `${redact(line)}\n`).join('');
};

/** For what is not written with an origin (RFC 2606 §2). */
const anyOrigin = 'zone.invalid';

/** In canonical form; hosts in the content are whole names. */
const lineOf = ({ record, type, name, content, priority }: ActualEntry, origin: string | null): string => {
  const owner = origin === null ? name || '@' : `${name === '' ? '' : `${name}.`}${origin}.`;
  const rooted = definitionOf(type)?.target && !content.endsWith('.') ? `${content}.` : content;
  // A text that is not UTF-8 has no other form.
  const isOctets = content === record.content && isQuotedText(content);
  const data = type === 'TXT' && !isOctets ? quoted(content) : rooted;
  return [owner, record.ttl, 'IN', type, priority === null ? data : `${priority} ${data}`].join('\t');
};

const quoted = (text: string): string => {
  const octets = Buffer.from(text, 'utf8');
  const strings = Array.from({ length: Math.max(1, Math.ceil(octets.length / 255)) }, (_, index) =>
    quoteOctets(octets.subarray(index * 255, (index + 1) * 255)),
  );
  return strings.join(' ');
};

/** Null if the line is this record. */
const whyOther = (entry: ActualEntry, origin: string): string | null => {
  const { record, type, name, content } = entry;
  // Texts have braces and percent signs of their own, as in SPF macros.
  if (hasPlaceholder(name) || (type === 'TXT' ? /##[^#]+##/.test(content) : hasPlaceholder(content)))
    return 'has a placeholder, which the service fills in';
  if (record.ttl === null) return 'has no TTL';
  if (name.endsWith('.') || name === origin || name.endsWith(`.${origin}`))
    return 'has a name that may be a whole one';
  if (/[\s;()"]/.test(name)) return 'has a name with a character that means something else in a zone file';
  try {
    const { records, whyNot } = recordsIn(zoneEntries(lineOf(entry, origin)), origin);
    const why = whyNot.get(1);
    return why ?? (records[0] && sameData(records[0], record) ? null : 'would be another record');
  } catch (error) {
    if (error instanceof ZoneMistake) return `has no line: ${error.message}`;
    throw error;
  }
};
