import { isAddress } from '../model/address.ts';
import { unseenIn } from '../model/text.ts';
import { finalPlaceholder, hasPlaceholder } from '../model/placeholder.ts';
import { hasPriority, recordTypes } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { definitionOf, definitions } from '../model/types/table.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import type { CheckId } from './check-id.ts';
import { quote, shownPlace } from './problem.ts';
import { hasControlCharacter, type Labels, type ResolvedRecord, type ResolvedRule } from './record.ts';

/** What the checks of a record need to know of its template. */
export interface CheckedTemplate {
  readonly rules: readonly ResolvedRule[];
  /** The same, as a list that is kept. */
  readonly ignore: readonly IgnoreRule[];
  /** Its subdomains, in canonical form. */
  readonly zones: ReadonlySet<string>;
  /** Domains that it names: its own name if it is one, and those that its subdomains are in. */
  readonly domains: ReadonlySet<string>;
  /** CNAMEs by their names. */
  readonly aliases: ReadonlyMap<string, ResolvedRecord>;
}

/** Everything that one record can have wrong, with what its template says for all. */
export const checkRecord = (record: ResolvedRecord, template: CheckedTemplate): void => {
  checkValues(record);
  checkName(record);
  checkOrigin(record, template);
  checkTarget(record);
  checkAlias(record, template);
  const { desired, canonical } = record;
  const { type, name, content } = desired;
  if (content !== '')
    for (const { id, at, find } of definitions[type].checks)
      tell(record, id, at, find({ name, content, canonical }, quote));
  if (!matchesIgnore(template.ignore, desired)) return;
  const { place } = template.rules.find(({ rule }) => matchesIgnore([rule], desired))!;
  const message = `the record is listed here and ignored at ${shownPlace(place)}`;
  tell(record, 'wanted-and-ignored', 'record', message);
};

/** Reports what a record has wrong at one of its places, unless it switches the check off; null: nothing. */
export const tell = (
  { part, at, allow }: ResolvedRecord,
  id: CheckId,
  place: keyof ResolvedRecord['at'],
  message: string | null,
): void => {
  if (message !== null && !allow.has(id)) part.report(id, at[place] ?? at.record, message);
};

const checkValues = (record: ResolvedRecord): void => {
  const { desired, at, part } = record;
  const { type, name, content, ttl } = desired;
  const { text } = part.parsed;
  if (content === '') tell(record, 'empty-content', 'content', '`content` is empty');
  for (const place of ['name', 'content'] as const) {
    const value = desired[place] ?? '';
    if (hasControlCharacter(value)) {
      const isEnd = place === 'content' && /^[^\n]*\n$/.test(value);
      const how = isEnd ? ': it ends with a line break; write `>-` or `|-`, or quote it' : '';
      const what = `the ${place} ${quote(value)} holds a control character`;
      tell(record, 'control-character', place, what + how);
    }
    const unseen = unseenIn(value);
    if (unseen !== null) {
      // Where names are compared it counts for nothing, but it would be sent.
      const what = `the ${place} ${quote(value)} holds an invisible character, ${unseen}`;
      tell(record, 'invisible-character', place, `${what}: write it again by hand`);
    }
  }
  if (type === 'TXT' && content !== '' && text.startsWith(content, at.content)) {
    comment.lastIndex = at.content + content.length;
    tell(record, 'comment-after-text', 'content', comment.test(text) ? endsHere : null);
  }
  if (ttl !== null && at.ttl !== undefined) tell(record, 'ttl-unusual', 'ttl', unusualTtl(ttl));
  if (hasPriority(type) && at.priority === undefined)
    tell(record, 'priority-required', 'entry', `the ${type} record needs a \`priority\``);
  if (!hasPriority(type) && at.priority !== undefined) {
    const message = `only ${typesWithPriority} records have a \`priority\`, ${type} records have none`;
    tell(record, 'priority-not-applicable', 'priority', message);
  }
  const rule = definitionOf(type).name;
  if (name === null && rule === 'required')
    tell(record, 'name-required', 'name', `the ${type} record needs a \`name\``);
  if (name === null && rule === 'below-apex') {
    const message = `a ${type} cannot be at the subdomain itself, beside its NS and SOA records: write A and AAAA records there`;
    tell(record, 'cname-apex', 'record', message);
  }
};

/** ` #` begins a comment: a text without quotes ends there, though its author may have meant it to go on. */
const comment = /[ \t]+#/y;

const endsHere =
  'the text ends here, since ` #` begins a comment: quote it, or put the comment on a line of its own';

const typesWithPriority = recordTypes.filter(hasPriority).join(' and ');

export const unusualTtl = (seconds: number): string | null => {
  if (seconds === 0) return 'a TTL of 0 forbids every cache to keep the answer';
  if (seconds < 60) return `a TTL of ${seconds} s is very short`;
  return seconds > 604_800 ? `a TTL of ${seconds} s is more than a week` : null;
};

const checkName = (record: ResolvedRecord): void => {
  const { name } = record.hosts;
  if (name === null) return;
  const { text, labels } = name;
  const { isNameLabel } = definitionOf(record.desired.type);
  checkLabels(record, 'name', name);
  const wrong = labels.find((label) => label !== '' && !label.includes('*') && !isNameLabel(label));
  if (wrong !== undefined)
    tell(record, 'bad-host', 'name', `${quote(record.desired.name!)} is not a name: ${why(wrong)}`);
  if (labels.some((label, index) => label.includes('*') && (index > 0 || label !== '*'))) {
    const message = `in ${quote(text)} the star is not the whole first label; a wildcard is \`*\` or \`*.name\``;
    tell(record, 'wildcard', 'name', message);
  }
};

const checkLabels = (record: ResolvedRecord, place: 'name' | 'content', { text, labels }: Labels): void => {
  const long = labels.find((label) => isLonger(label, 63));
  if (labels.includes(''))
    tell(record, 'label-length', place, `${quote(text)} has an empty label: two dots, or one at the start`);
  else if (long !== undefined)
    tell(record, 'label-length', place, tooLong(`the label ${quote(long)}`, long, 63));
  const whole = labels.join('.');
  if (isLonger(whole, 253)) tell(record, 'name-length', place, tooLong('the name', whole, 253));
};

const tooLong = (what: string, text: string, allowed: number): string =>
  `${what} has ${octetsOf(text)} octets; ${allowed} are allowed`;

const octetsOf = (text: string): number => Buffer.byteLength(text, 'utf8');

/** Most texts are so short that their octets need not be counted. */
export const isLonger = (text: string, octets: number): boolean =>
  text.length * 3 > octets && octetsOf(text) > octets;

const why = (label: string): string =>
  /^-|-$/.test(label)
    ? `${quote(label)} begins or ends with a hyphen`
    : `${quote(label)} holds more than letters, digits and hyphens`;

/** With the habit of zone files, `www.example.net` becomes `www.example.net.example.net`, which nobody can delete. */
const checkOrigin = (record: ResolvedRecord, { zones, domains }: CheckedTemplate): void => {
  const { name } = record.hosts;
  if (name === null) return;
  const { text, labels } = name;
  const [inZone, inDomain] = [endIn(zones, name), endIn(domains, name)];
  if (inZone === null && inDomain === null && !text.endsWith('.')) return;
  const alone = labels.length === 1 ? labels[0]! : null;
  const relative = inZone?.relative ?? inDomain?.relative ?? alone;
  const what = `names are relative to the subdomain, and ${quote(text)}`;
  if (inZone !== null || /[^.]\.$/.test(text)) {
    const that = inZone === null ? 'has a final dot' : `ends in ${quote(inZone.domain)}`;
    const how =
      relative === null ? 'write it without that and without the domain' : `write ${quote(relative)}`;
    tell(record, 'full-name', 'name', `${what} ${that}: ${how}, or allow it if the service stores names so`);
  } else if (inDomain !== null) {
    const that = `ends in ${quote(inDomain.domain)}, which this template names`;
    const message = `${what} ${that}: if that is the domain itself, write ${quote(inDomain.relative)}`;
    tell(record, 'origin-in-name', 'name', message);
  }
};

/** In which of some domains a name ends, and what stands before that; null if in none. */
const endIn = (domains: ReadonlySet<string>, { labels }: Labels) => {
  if (domains.size === 0) return null;
  const start = labels.findIndex((_, index) => domains.has(labels.slice(index).join('.')));
  if (start < 0) return null;
  return { relative: labels.slice(0, start).join('.') || '@', domain: labels.slice(start).join('.') };
};

const checkTarget = (record: ResolvedRecord): void => {
  const { desired, hosts } = record;
  const { type, content } = desired;
  const { target, host } = hosts;
  const rules = definitionOf(type).target;
  if (rules === null || target === null) return;
  if (isAddress(target)) {
    const how = 'give it a name with an A or AAAA record, and write that';
    const message = `${type} points at a host name, and ${quote(target)} is an address: ${how}`;
    tell(record, 'address-as-host', 'content', message);
  }
  if (target === '.' && !rules.mayBeRoot)
    tell(record, 'bad-host', 'content', `a ${type} cannot point at \`.\``);
  if (host === null) return;
  checkLabels(record, 'content', host);
  if (!hasControlCharacter(host.text))
    tell(record, 'bad-host', 'content', rules.mistake(content) ?? mistakeIn(host, type, rules.isLabel));
  if (host.labels.length === 1 && host.text !== '@') {
    const message = `the target ${quote(host.text)} is a single label; write the full host name`;
    tell(record, 'single-label-target', 'content', message);
  }
};

const mistakeIn = (
  { text, labels }: Labels,
  type: string,
  isLabel: (label: string) => boolean,
): string | null => {
  if (text === '@')
    return `\`@\` is the subdomain itself only as a name: a target is a full host name, such as ${type === 'CNAME' ? 'that of the subdomain' : '`mail.example.net`'}, or has a placeholder that the service replaces`;
  const [, inUrl] = /^[a-z]+:\/\/([^/:]+)/.exec(text) ?? [];
  const [, beforePath] = /^([^/\s]+\.[^/\s]+)\/(?!.*\.arpa$)/.exec(text) ?? [];
  const wrong = labels.find((label) => label !== '' && !isLabel(label));
  if (inUrl !== undefined) return `${quote(text)} is not a host name: write its host alone, ${quote(inUrl)}`;
  if (beforePath !== undefined)
    return `${quote(text)} is not a host name: a record points at a host, ${quote(beforePath)}, and only a web server there can lead to a path`;
  if (wrong !== undefined) return `${quote(text)} is not a host name: ${why(wrong)}`;
  return labels.length > 1 && /^\d+$/.test(labels.at(-1)!)
    ? `${quote(text)} is neither a host name, since it ends in a number, nor a complete address`
    : null;
};

const checkAlias = (record: ResolvedRecord, { aliases, zones }: CheckedTemplate): void => {
  const { desired, hosts } = record;
  const { target } = hosts;
  if (target === null || aliases.size === 0 || definitionOf(desired.type).target?.mayBeAlias === true) return;
  // Its name inside the template, without the subdomain or a placeholder for it.
  const zone = [...zones].find((one) => target.endsWith(`.${one}`));
  const relative = hasPlaceholder(target) ? target.replace(finalPlaceholder, '') : target;
  const inside = zone === undefined ? relative : target.slice(0, -zone.length - 1);
  const alias = aliases.get(target) ?? aliases.get(inside);
  if (alias === undefined) return;
  const message = `the target is a CNAME here (${shownPlace(alias.desired.source)}); ${desired.type} needs a host with an address`;
  tell(record, 'target-is-cname', 'content', message);
};
