import { isWarning } from '../../desired/check-id.ts';
import { hasControlCharacter } from '../../desired/checks/hosts.ts';
import { quote } from '../../desired/diagnostic.ts';
import { maxTtl } from '../../desired/schema.ts';
import { isQuotedText, unquoteText } from '../../model/quoted-text.ts';
import { isRecordType, type RecordData, type RecordType } from '../../model/record.ts';
import type { TypeDefinition } from '../../model/types/definition.ts';
import { definitions } from '../../model/types/table.ts';
import { isUnsigned16 } from '../../model/unsigned16.ts';
import { isParkedName } from '../../plan/parked.ts';

/**
 * What a line of a zone file says: a record, with a relative name and a TTL; which records of its kind a template
 * cannot hold, as words behind a count of them; or what is wrong with it. `isForm`: another line may be needed to
 * understand it.
 */
export type ZoneLine =
  | { readonly record: RecordData }
  | { readonly leftOut: string }
  | { readonly mistake: string; readonly isForm: boolean };

/**
 * Reads `NAME TTL IN TYPE DATA`, a line of a master file (RFC 1035 §5.1) that depends on no other one, as `dig AXFR`
 * and `named-compilezone` print it. `origin`: in lower case, without a final dot.
 */
export const readZoneLine = (line: string, origin: string): ZoneLine => {
  const [, entry] = completeLine.exec(line) ?? [];
  const [, owner = '', ttl = '', dnsClass = '', type = '', data = ''] = columns.exec(entry ?? '') ?? [];
  const form = (mistake: string): ZoneLine => ({ mistake, isForm: true });
  if (line.startsWith('$')) return form(`${quote(line.split(/\s/, 1)[0]!)} is a directive`);
  if (/^\s/.test(line)) return form('it begins with a blank, not with a name');
  if (entry === undefined) return form('it has a parenthesis, or a quotation mark that nothing closes');
  if (!isAbsolute(owner)) return form(`the name ${quote(owner)} is not a whole one, with a final dot`);
  if (!/^\d{1,10}$/.test(ttl) || Number(ttl) > maxTtl)
    return form(`${quote(ttl)} is not a TTL in seconds, which belongs behind the name`);
  if (dnsClass.toUpperCase() !== 'IN')
    return form(`${quote(dnsClass)} is not the class IN, which belongs behind the TTL`);
  const name = nameBelow(origin, owner);
  if (name === undefined)
    return { mistake: `the name ${quote(owner)} is not below ${origin}`, isForm: false };
  const known = type.toUpperCase();
  if (!isRecordType(known)) return { leftOut: `of type ${known}` };
  if (isUnstatable(name ?? '')) return { leftOut: 'with a name that a template cannot state' };
  if (isParkedName(name?.toLowerCase() ?? '')) return { leftOut: 'with the name of a parked one' };
  const read = readData(known, data.trimEnd());
  return 'content' in read ? { record: { type: known, name, ttl: Number(ttl), ...read } } : read;
};

/** All of it but a comment at its end. */
const completeLine = /^((?:[^"\\();]|\\[^]|"(?:[^"\\]|\\[^])*")*)(?:;[^]*)?$/;

const columns = /^((?:[^\s\\]|\\[^])+)(?:\s+(\S+))?(?:\s+(\S+))?(?:\s+(\S+))?\s*([^]*)$/;

/** RFC 1035 §2.3.4: 63 octets a label, and 255 a name, with those before each label. */
const isAbsolute = (name: string): boolean =>
  name === '.' ||
  (/^(?:(?:[^\\.]|\\\d{3}|\\\D){1,63}\.)+$/.test(name) && name.replace(/\\(?:\d{3}|\D)/g, 'x').length <= 254);

/** Null: the origin itself; undefined: outside. */
const nameBelow = (origin: string, owner: string): string | null | undefined => {
  const lower = owner.toLowerCase();
  if (lower === `${origin}.`) return null;
  return lower.endsWith(`.${origin}.`) ? owner.slice(0, -origin.length - 2) : undefined;
};

/** Template files know no escapes in names. */
const isUnstatable = (name: string): boolean => /[\\"@]|[^!-~]/.test(name);

type Data = Pick<RecordData, 'content' | 'priority'>;

const readData = (type: RecordType, data: string): Data | Exclude<ZoneLine, { record: unknown }> => {
  const wrong = (mistake: string) => ({ mistake, isForm: false });
  const definition: TypeDefinition = definitions[type];
  const { hasPriority, target, parts } = definition;
  const isText = type === 'TXT';
  const words = isText ? [data] : data.split(/\s+/);
  const priority = hasPriority ? words.shift() : null;
  if (isText ? !isQuotedText(data) : words.length !== (parts ? 3 : 1))
    return wrong(`${quote(data)} is not what a record of type ${type} has`);
  if (priority !== null && !isUnsigned16(priority))
    return wrong(`${quote(priority ?? '')} is not a priority`);
  if (target) {
    const host = words.pop()!;
    if (!isAbsolute(host))
      return { mistake: `the host ${quote(host)} is not a whole name, with a final dot`, isForm: true };
    if (isUnstatable(host)) return { leftOut: 'with a host that a template cannot state' };
    // As template files have hosts: without the final dot.
    words.push(host === '.' ? host : host.slice(0, -1));
  }
  const content = words.join(' ');
  const checked = { name: null, content, canonical: { name: '', content: definition.canonical(content) } };
  for (const { id, at, find } of definition.checks) {
    const objection = at === 'content' && !isWarning(id) ? find(checked, quote) : null;
    if (objection !== null) return wrong(objection);
  }
  return {
    content: isText ? plainText(content) : content,
    priority: priority === null ? null : Number(priority),
  };
};

/** Without quotation marks and escapes, if it is the same text without them. */
const plainText = (quoted: string): string => {
  const text = unquoteText(quoted);
  return text === null || text === '' || text.startsWith('"') || hasControlCharacter(text) ? quoted : text;
};
