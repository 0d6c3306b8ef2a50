import { withoutFinalDot } from '../../plan/glob.ts';
import { canonicalName } from '../../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../../model/host.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { definitionOf } from '../../model/types/table.ts';
import { kindOf } from '../../plan/conflict.ts';
import { quote } from '../fault.ts';
import type { RecordDraft } from '../record-draft.ts';
import { nameAt, placeOf, shownName, type TemplateCheck } from './check.ts';
import { ignoreMatchesNothing } from './ignore-checks.ts';
import { octetsOf } from './hosts.ts';
import { templateTtlUnusual } from './ttl-checks.ts';

const duplicateRecord: TemplateCheck = {
  id: 'duplicate-record',
  find: (_, records) => {
    const first = new Map<string, RecordDraft>();
    return records.flatMap((draft) => {
      const { type, name, content, priority } = draft.canonical;
      const key = `${type} ${priority} ${name.length} ${name}${content}`;
      const before = first.get(key);
      if (before === undefined) first.set(key, draft);
      const message = `this ${type} record is wanted twice${before === undefined ? '' : `, also at ${placeOf(before)}`}`;
      return before === undefined ? [] : [{ draft, at: draft.at.record, message }];
    });
  },
};

const targetIsCname: TemplateCheck = {
  id: 'target-is-cname',
  find: ({ subdomains }, records) => {
    const aliases = records.filter(
      ({ record, canonical }) => kindOf(canonical) === 'CNAME' && record.name !== null,
    );
    if (aliases.length === 0) return [];
    const names = new Map(aliases.map((draft) => [draft.canonical.name, draft]));
    const zones = subdomains.map(({ text }) => `.${canonicalName(text)}`);
    return records.flatMap((draft) => {
      const rules = definitionOf(draft.record.type).target;
      const target = rules?.mayBeAlias === true ? null : draft.hosts.target;
      const alias =
        target === null
          ? undefined
          : relativeNames(target, zones)
              .map((name) => names.get(name))
              .find(Boolean);
      if (alias === undefined) return [];
      const message = `the target is a CNAME here (${placeOf(alias)}); ${draft.record.type} needs a host with an address`;
      return [{ draft, at: draft.at.content, message }];
    });
  },
};

/** What a target may be called inside the template: as it is, or without the subdomain or a placeholder for it. */
const relativeNames = (target: string, zones: readonly string[]): string[] => {
  const zone =
    zones.find((one) => target.endsWith(one)) ??
    /\.(?:##[^#]+##|\{[^{}]+\}|<[^<>]+>|%[^%]+%)$/.exec(target)?.[0];
  return zone === undefined ? [target] : [target, target.slice(0, -zone.length)];
};

const subdomainName: TemplateCheck = {
  id: 'subdomain-name',
  find: ({ subdomains }) =>
    subdomains
      .filter(({ text }) => !isHostName(text))
      .map((at) => ({ draft: null, at, message: `${quote(at.text)} under \`subdomains\` is no host name` })),
};

const isHostName = (text: string): boolean => {
  const name = canonicalName(text);
  const labels = nameLabelsOf(name);
  return (
    hasPlaceholder(text) ||
    (octetsOf(name) <= 253 && labels.every((label) => isHostLabel(label) && octetsOf(label) <= 63))
  );
};

/** Here they are two names; a service may keep them as one. */
const finalDot: TemplateCheck = {
  id: 'final-dot',
  find: (_, records) => {
    const dotted = records.filter(({ canonical }) => withoutFinalDot(canonical.name) !== canonical.name);
    if (dotted.length === 0) return [];
    const names = new Map(records.map((draft) => [draft.canonical.name, draft]));
    return dotted.flatMap((draft) => {
      const other = names.get(withoutFinalDot(draft.canonical.name));
      const message = `the name ${shownName(draft)} stands here without its final dot too${other ? ` (${placeOf(other)})` : ''}; both may be one to the service`;
      return other ? [{ draft, at: nameAt(draft), message }] : [];
    });
  },
};

export const templateChecks: readonly TemplateCheck[] = [
  duplicateRecord,
  targetIsCname,
  subdomainName,
  ignoreMatchesNothing,
  finalDot,
  templateTtlUnusual,
];
