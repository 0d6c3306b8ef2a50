import { isAddress } from '../model/address.ts';
import { nameLabelsOf } from '../model/host.ts';
import { finalPlaceholder, hasPlaceholder } from '../model/placeholder.ts';
import { hasPriority, recordTypes } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import { unseenIn } from '../model/text.ts';
import { definitionOf, definitions } from '../model/types/table.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import type { CheckId } from './check-id.ts';
import { hasControlCharacter, quote, shownPlace } from './problem.ts';
import type { ResolvedRecord, ResolvedRule } from './record.ts';

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
  const { desired, canonical } = record;
  const { type, name, content } = desired;
  checkValues(record);
  if (canonical.name !== '' && !hasPlaceholder(canonical.name) && !hasControlCharacter(canonical.name)) {
    const labels = nameLabelsOf(canonical.name);
    checkName(record, labels);
    checkOrigin(record, labels, template);
  }
  const target = definitionOf(type).target?.in(canonical.content) ?? null;
  if (target !== null) {
    checkTarget(record, target);
    checkAlias(record, target, template);
  }
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
    const holds = (what: string): string => `the ${place} ${quote(value)} holds ${what}`;
    if (hasControlCharacter(value)) {
      const how = value.endsWith('\n') ? ': it ends with a line break; write `>-` or `|-`, or quote it' : '';
      tell(record, 'control-character', place, holds(`a control character${how}`));
    }
    // Such as from an argument, or from a file that `import` wrote.
    if (value.includes('\ufffd'))
      tell(record, 'control-character', place, holds('U+FFFD, for what was not UTF-8: write it again'));
    // Where names are compared it counts for nothing, but it would be sent.
    const unseen = unseenIn(value);
    if (unseen !== null)
      tell(
        record,
        'invisible-character',
        place,
        holds(`an invisible character, ${unseen}: write it again by hand`),
      );
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

const checkName = (record: ResolvedRecord, labels: readonly string[]): void => {
  const { desired, canonical } = record;
  const { isNameLabel } = definitionOf(desired.type);
  checkLabels(record, 'name', canonical.name, labels);
  const wrong = labels.find((label) => label !== '' && !label.includes('*') && !isNameLabel(label));
  if (wrong !== undefined)
    tell(record, 'bad-host', 'name', `${quote(desired.name!)} is not a name: ${why(wrong)}`);
  if (labels.some((label, index) => label.includes('*') && (index > 0 || label !== '*'))) {
    const message = `in ${quote(canonical.name)} the star is not the whole first label; a wildcard is \`*\` or \`*.name\``;
    tell(record, 'wildcard', 'name', message);
  }
};

const checkLabels = (
  record: ResolvedRecord,
  place: 'name' | 'content',
  text: string,
  labels: readonly string[],
): void => {
  const long = labels.find((label) => isLonger(label, 63));
  if (labels.includes(''))
    tell(record, 'label-length', place, `${quote(text)} has an empty label: two dots, or one at the start`);
  else if (long !== undefined)
    tell(record, 'label-length', place, tooLong(`the label ${quote(long)}`, long, 63));
  const whole = labels.join('.');
  if (isLonger(whole, 253)) tell(record, 'name-length', place, tooLong('the name', whole, 253));
};

const tooLong = (what: string, text: string, allowed: number): string =>
  `${what} has ${Buffer.byteLength(text, 'utf8')} octets; ${allowed} are allowed`;

/** Most texts are so short that their octets need not be counted. */
export const isLonger = (text: string, octets: number): boolean =>
  text.length * 3 > octets && Buffer.byteLength(text, 'utf8') > octets;

const why = (label: string): string =>
  /^-|-$/.test(label)
    ? `${quote(label)} begins or ends with a hyphen`
    : `${quote(label)} holds more than letters, digits and hyphens`;

/** With the habit of zone files, `www.example.net` becomes `www.example.net.example.net`, which nobody can delete. */
const checkOrigin = (
  record: ResolvedRecord,
  labels: readonly string[],
  { zones, domains }: CheckedTemplate,
): void => {
  const { name } = record.canonical;
  const [inZone, inDomain] = [endIn(zones, labels), endIn(domains, labels)];
  if (inZone === null && inDomain === null && !name.endsWith('.')) return;
  const what = `names are relative to the subdomain, and ${quote(name)}`;
  if (inZone !== null || /[^.]\.$/.test(name)) {
    const that = inZone === null ? 'has a final dot' : `ends in ${quote(inZone.domain)}`;
    const alone = labels.length === 1 ? labels[0] : undefined;
    const relative = inZone?.relative ?? inDomain?.relative ?? alone;
    const how =
      relative === undefined ? 'write it without that and without the domain' : `write ${quote(relative)}`;
    tell(record, 'full-name', 'name', `${what} ${that}: ${how}, or allow it if the service stores names so`);
  } else if (inDomain !== null) {
    const that = `ends in ${quote(inDomain.domain)}, which this template names`;
    const message = `${what} ${that}: if that is the domain itself, write ${quote(inDomain.relative)}`;
    tell(record, 'origin-in-name', 'name', message);
  }
};

/** In which of some domains a name ends, and what stands before that; null if in none. */
const endIn = (domains: ReadonlySet<string>, labels: readonly string[]) => {
  if (domains.size === 0) return null;
  const start = labels.findIndex((_, index) => domains.has(labels.slice(index).join('.')));
  if (start < 0) return null;
  return { relative: labels.slice(0, start).join('.') || '@', domain: labels.slice(start).join('.') };
};

const checkTarget = (record: ResolvedRecord, target: string): void => {
  const { type, content } = record.desired;
  const { isLabel, mayBeRoot, mistake } = definitionOf(type).target!;
  if (isAddress(target)) {
    const message = `${type} points at a host name, and ${quote(target)} is an address: give it a name with an A or AAAA record, and write that`;
    tell(record, 'address-as-host', 'content', message);
  } else if (target === '.')
    tell(record, 'bad-host', 'content', mayBeRoot ? null : `a ${type} cannot point at \`.\``);
  else if (!hasPlaceholder(target)) {
    const labels = nameLabelsOf(target);
    checkLabels(record, 'content', target, labels);
    if (!hasControlCharacter(target))
      tell(record, 'bad-host', 'content', mistake(content) ?? mistakeIn(target, labels, isLabel));
    if (labels.length === 1 && target !== '@') {
      const message = `the target ${quote(target)} is a single label; write the full host name`;
      tell(record, 'single-label-target', 'content', message);
    }
  }
};

const mistakeIn = (
  text: string,
  labels: readonly string[],
  isLabel: (label: string) => boolean,
): string | null => {
  if (text === '@')
    return '`@` is the subdomain itself only as a name: a target is a full host name, such as that of the subdomain or `mail.example.net`, or has a placeholder that the service replaces';
  const [, host] = /^(?:[a-z]+:\/\/)?([^/:\s]+\.[^/:\s]+)[/:](?!.*\.arpa$)/.exec(text) ?? [];
  const wrong = labels.find((label) => label !== '' && !isLabel(label));
  const isNumber = labels.length > 1 && /^\d+$/.test(labels.at(-1)!);
  if (host === undefined && wrong === undefined && !isNumber) return null;
  const what = `${quote(text)} is not a host name`;
  if (host !== undefined)
    return `${what}: a record points at a host, ${quote(host)}, and only a web server there can lead to a path or a port`;
  return `${what}: ${wrong === undefined ? 'it ends in a number, and is no complete address' : why(wrong)}`;
};

const checkAlias = (record: ResolvedRecord, target: string, { aliases, zones }: CheckedTemplate): void => {
  const { type } = record.desired;
  if (aliases.size === 0 || definitionOf(type).target?.mayBeAlias === true) return;
  // Its name inside the template, without the subdomain or a placeholder for it.
  const zone = [...zones].find((one) => target.endsWith(`.${one}`));
  const relative = hasPlaceholder(target) ? target.replace(finalPlaceholder, '') : target;
  const inside = zone === undefined ? relative : target.slice(0, -zone.length - 1);
  const alias = aliases.get(target) ?? aliases.get(inside);
  if (alias === undefined) return;
  const message = `the target is a CNAME here (${shownPlace(alias.desired.source)}); ${type} needs a host with an address`;
  tell(record, 'target-is-cname', 'content', message);
};
