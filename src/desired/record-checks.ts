import { isAddress } from '../model/address.ts';
import { unseenIn } from '../model/invisible.ts';
import { finalPlaceholder, hasPlaceholder } from '../model/placeholder.ts';
import { hasPriority, recordTypes, type RecordType } from '../model/record.ts';
import type { IgnoreRule } from '../model/template.ts';
import type { TypeCheck } from '../model/types/definition.ts';
import { definitionOf, definitions } from '../model/types/table.ts';
import { withoutFinalDot } from '../model/glob.ts';
import { matchesIgnore } from '../plan/ignore.ts';
import type { CheckId } from './check-id.ts';
import type { ResolvedRule } from './ignore-rule.ts';
import { quote } from './problem.ts';
import {
  hasControlCharacter,
  isLonger,
  octetsOf,
  placeOf,
  type CheckedPlace,
  type Labels,
  type ResolvedRecord,
} from './record.ts';

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

/** Checks one record, with what its template says for all: its message, and what it is about. */
interface RecordCheck {
  readonly id: CheckId;
  readonly place: CheckedPlace;
  readonly find: Find;
}

type Find = (record: ResolvedRecord, template: CheckedTemplate) => string | null;

export const recordChecksOf = (type: RecordType): readonly RecordCheck[] => byType.get(type)!;

const emptyContent: Find = ({ desired }) => (desired.content === '' ? '`content` is empty' : null);

const addressAsHost: Find = ({ desired: { type }, hosts: { target } }) =>
  target !== null && isAddress(target)
    ? `${type} points at a host name, and ${quote(target)} is an address: give it a name with an A or AAAA record, and write that`
    : null;

const badName: Find = ({ desired: { type, name }, hosts }) => {
  const { isNameLabel } = definitionOf(type);
  const wrong = hosts.name?.labels.find(
    (label) => label !== '' && !label.includes('*') && !isNameLabel(label),
  );
  return wrong === undefined ? null : `${quote(name!)} is not a name: ${why(wrong)}`;
};

const badTarget: Find = ({ desired: { type, content }, hosts: { target, host } }) => {
  const rules = definitionOf(type).target;
  if (rules === null) return null;
  if (target === '.') return rules.mayBeRoot ? null : `a ${type} cannot point at \`.\``;
  if (host === null || hasControlCharacter(host.text)) return null;
  const { text, labels } = host;
  if (text === '@')
    return `\`@\` is the subdomain itself only as a name: a target is a full host name, such as ${type === 'CNAME' ? 'that of the subdomain' : '`mail.example.net`'}, or has a placeholder that the service replaces`;
  const mistake = rules.mistake(content);
  if (mistake !== null) return mistake;
  const [, inUrl] = /^[a-z]+:\/\/([^/:]+)/.exec(text) ?? [];
  const [, beforePath] = /^([^/\s]+\.[^/\s]+)\/(?!.*\.arpa$)/.exec(text) ?? [];
  const wrong = labels.find((label) => label !== '' && !rules.isLabel(label));
  if (inUrl !== undefined) return `${quote(text)} is not a host name: write its host alone, ${quote(inUrl)}`;
  if (beforePath !== undefined)
    return `${quote(text)} is not a host name: a record points at a host, ${quote(beforePath)}, and only a web server there can lead to a path`;
  if (wrong !== undefined) return `${quote(text)} is not a host name: ${why(wrong)}`;
  return labels.length > 1 && /^\d+$/.test(labels.at(-1)!)
    ? `${quote(text)} is neither a host name, since it ends in a number, nor a complete address`
    : null;
};

const why = (label: string): string =>
  /^-|-$/.test(label)
    ? `${quote(label)} begins or ends with a hyphen`
    : `${quote(label)} holds more than letters, digits and hyphens`;

const wrongLabel = (labels: Labels | null): string | null => {
  if (labels?.labels.includes('') === true)
    return `${quote(labels.text)} has an empty label: two dots, or one at the start`;
  const long = labels?.labels.find((label) => isLonger(label, 63));
  return long === undefined ? null : `the label ${quote(long)} has ${octetsOf(long)} octets; 63 are allowed`;
};

const tooLong = (labels: Labels | null): string | null => {
  if (labels === null || !isLonger(labels.labels.join('.'), 253)) return null;
  return `the name has ${octetsOf(labels.labels.join('.'))} octets; 253 are allowed`;
};

const wildcard: Find = ({ hosts: { name } }) =>
  name?.labels.some((label, index) => label.includes('*') && (index > 0 || label !== '*')) === true
    ? `in ${quote(name.text)} the star is not the whole first label; a wildcard is \`*\` or \`*.name\``
    : null;

/** With the habit of zone files, `www.example.net` becomes `www.example.net.example.net`, which nobody can delete. */
const fullName: Find = ({ hosts: { name } }, { zones, domains }) => {
  if (name === null) return null;
  const inZone = relativeTo(zones, name);
  const hasDot = withoutFinalDot(name.text) !== name.text;
  if (inZone === null && !hasDot) return null;
  const relative =
    inZone ?? relativeTo(domains, name) ?? (name.labels.length === 1 ? name.text.slice(0, -1) : null);
  const how = relative === null ? 'write it without that and without the domain' : `write ${shown(relative)}`;
  const what = inZone === null ? 'has a final dot' : `ends in ${quote(endOf(inZone, name))}`;
  return `names are relative to the subdomain, and ${quote(name.text)} ${what}: ${how}, or allow it if the service stores names so`;
};

/** The same in a template that only names its domain, or a subdomain of it. */
const originInName: Find = (record, template) => {
  const { name } = record.hosts;
  const relative = name && relativeTo(template.domains, name);
  if (name === null || relative === null || fullName(record, template) !== null) return null;
  return `names are relative to the subdomain, and ${quote(name.text)} ends in ${quote(endOf(relative, name))}, which this template names: if that is the domain itself, write ${shown(relative)}`;
};

/** What stands before one of some domains; null if it ends in none of them. */
const relativeTo = (domains: ReadonlySet<string>, { labels }: Labels): string | null => {
  if (domains.size === 0) return null;
  const start = labels.findIndex((_, index) => domains.has(labels.slice(index).join('.')));
  return start < 0 ? null : labels.slice(0, start).join('.');
};

const endOf = (relative: string, { labels }: Labels): string =>
  labels.slice(relative === '' ? 0 : relative.split('.').length).join('.');

const shown = (relative: string): string => quote(relative === '' ? '@' : relative);

const cnameApex: Find = ({ desired: { type, name } }) =>
  name === null && definitionOf(type).name === 'below-apex'
    ? `a ${type} cannot be at the subdomain itself, beside its NS and SOA records`
    : null;

const nameRequired: Find = ({ desired: { type, name } }) =>
  name === null && definitionOf(type).name === 'required' ? `the ${type} record needs a \`name\`` : null;

const priorityRequired: Find = ({ desired: { type, content }, at, allow }) =>
  hasPriority(type) && at.priority === null && !(allow.size === 0 && priorityBefore.test(content))
    ? `the ${type} record needs a \`priority\``
    : null;

/** MX and SRV as in zone files: the check of the content says what to do. */
const priorityBefore = /^\d+\s+(?:\d+\s+\d+\s+)?\S+$/;

const typesWithPriority = recordTypes.filter(hasPriority).join(' and ');

const priorityNotApplicable: Find = ({ desired: { type }, at }) =>
  at.priority !== null && !hasPriority(type)
    ? `only ${typesWithPriority} records have a \`priority\`, ${type} records have none`
    : null;

const wantedAndIgnored: Find = ({ desired }, { rules, ignore }) => {
  if (!matchesIgnore(ignore, desired)) return null;
  const { file, line, column } = rules.find(({ rule }) => matchesIgnore([rule], desired))!.place;
  return `the record is listed here and ignored at ${file}:${line}:${column}`;
};

const controlIn = (what: string, text: string | null): string | null => {
  if (text === null || !hasControlCharacter(text)) return null;
  const isEnd = what === 'content' && /^[^\n]*\n$/.test(text);
  return `the ${what} ${quote(text)} holds a control character${isEnd ? ': it ends with a line break; write `>-` or `|-`, or quote it' : ''}`;
};

/** Where names are compared they count for nothing, but they would be sent. */
const invisibleIn = (what: string, text: string | null): string | null => {
  const unseen = text === null ? null : unseenIn(text);
  return unseen === null
    ? null
    : `the ${what} ${quote(text!)} holds an invisible character, ${unseen}: write it again by hand`;
};

const shortest = 60;
const longest = 604_800;

export const unusualTtl = (seconds: number): string | null => {
  if (seconds === 0) return 'a TTL of 0 forbids every cache to keep the answer';
  if (seconds < shortest) return `a TTL of ${seconds} s is very short`;
  return seconds > longest ? `a TTL of ${seconds} s is more than a week` : null;
};

const targetIsCname: Find = ({ desired: { type }, hosts: { target } }, { aliases, zones }) => {
  if (target === null || aliases.size === 0 || definitionOf(type).target?.mayBeAlias === true) return null;
  const relative = withoutZone(target, zones);
  const alias = aliases.get(target) ?? (relative === null ? undefined : aliases.get(relative));
  return alias === undefined
    ? null
    : `the target is a CNAME here (${placeOf(alias)}); ${type} needs a host with an address`;
};

/** The name that a target has inside the template, without the subdomain or a placeholder for it. */
const withoutZone = (target: string, zones: ReadonlySet<string>): string | null => {
  for (const zone of zones) if (target.endsWith(`.${zone}`)) return target.slice(0, -zone.length - 1);
  return hasPlaceholder(target) ? target.replace(finalPlaceholder, '') : null;
};

const singleLabelTarget: Find = ({ hosts: { host } }) =>
  host === null || host.labels.length > 1 || host.text === '@'
    ? null
    : `the target ${quote(host.text)} is a single label; write the full host name`;

/** The checks that a record type defines for its own names and contents. */
const ownChecksOf = (type: RecordType): RecordCheck[] => {
  const { checks }: { readonly checks: readonly (TypeCheck & { readonly id: CheckId })[] } =
    definitions[type];
  return checks.map(({ id, at, find }) => ({
    id,
    place: at,
    find: ({ desired: { name, content }, canonical }) =>
      content === '' ? null : find({ name, content, canonical }, quote),
  }));
};

const commonChecks: readonly RecordCheck[] = [
  { id: 'empty-content', place: 'content', find: emptyContent },
  { id: 'address-as-host', place: 'content', find: addressAsHost },
  { id: 'bad-host', place: 'name', find: badName },
  { id: 'bad-host', place: 'content', find: badTarget },
  { id: 'label-length', place: 'name', find: ({ hosts }) => wrongLabel(hosts.name) },
  { id: 'label-length', place: 'content', find: ({ hosts }) => wrongLabel(hosts.host) },
  { id: 'name-length', place: 'name', find: ({ hosts }) => tooLong(hosts.name) },
  { id: 'name-length', place: 'content', find: ({ hosts }) => tooLong(hosts.host) },
  { id: 'wildcard', place: 'name', find: wildcard },
  { id: 'full-name', place: 'name', find: fullName },
  { id: 'cname-apex', place: 'record', find: cnameApex },
  { id: 'name-required', place: 'name', find: nameRequired },
  { id: 'priority-required', place: 'entry', find: priorityRequired },
  { id: 'priority-not-applicable', place: 'priority', find: priorityNotApplicable },
  { id: 'invisible-character', place: 'name', find: ({ desired }) => invisibleIn('name', desired.name) },
  {
    id: 'invisible-character',
    place: 'content',
    find: ({ desired }) => invisibleIn('content', desired.content),
  },
  { id: 'wanted-and-ignored', place: 'record', find: wantedAndIgnored },
  { id: 'control-character', place: 'name', find: ({ desired }) => controlIn('name', desired.name) },
  { id: 'control-character', place: 'content', find: ({ desired }) => controlIn('content', desired.content) },
  { id: 'origin-in-name', place: 'name', find: originInName },
  {
    id: 'ttl-unusual',
    place: 'ttl',
    find: ({ desired: { ttl }, at }) => (ttl === null || at.ttl === null ? null : unusualTtl(ttl)),
  },
  { id: 'target-is-cname', place: 'content', find: targetIsCname },
  { id: 'single-label-target', place: 'content', find: singleLabelTarget },
];

const byType: ReadonlyMap<RecordType, readonly RecordCheck[]> = new Map(
  recordTypes.map((type) => [type, [...ownChecksOf(type), ...commonChecks]]),
);
