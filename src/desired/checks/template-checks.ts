import { withoutFinalDot } from '../../plan/glob.ts';
import { canonicalName } from '../../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../../model/host.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { definitionOf } from '../../model/types/table.ts';
import { kindOf } from '../../plan/conflict.ts';
import { quote } from '../diagnostic.ts';
import { nameAt, placeOf, shownName, type TemplateCheck } from './check.ts';
import { ignoreMatchesNothing } from './ignore-checks.ts';
import { octetsOf } from './hosts.ts';
import { templateTtlUnusual } from './ttl-checks.ts';

const targetIsCname: TemplateCheck = {
  id: 'target-is-cname',
  find: ({ subdomains }, records) => {
    const aliases = records.filter(
      ({ desired, canonical }) => kindOf(canonical) === 'CNAME' && desired.name !== null,
    );
    if (aliases.length === 0) return [];
    const names = new Map(aliases.map((record) => [record.canonical.name, record]));
    const zones = subdomains.map(({ text }) => `.${canonicalName(text)}`);
    return records.flatMap((record) => {
      const rules = definitionOf(record.desired.type).target;
      const target = rules?.mayBeAlias === true ? null : record.hosts.target;
      const alias =
        target === null
          ? undefined
          : relativeNames(target, zones)
              .map((name) => names.get(name))
              .find(Boolean);
      if (alias === undefined) return [];
      const message = `the target is a CNAME here (${placeOf(alias)}); ${record.desired.type} needs a host with an address`;
      return [{ entry: record, at: record.at.content, message }];
    });
  },
};

/**
 * The names that a target may have inside the template: as it is, or without the subdomain or a placeholder
 * for it.
 */
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
      .map((at) => ({
        entry: null,
        at,
        message: `${quote(at.text)} under \`subdomains\` is not a host name`,
      })),
};

const isHostName = (text: string): boolean => {
  const name = canonicalName(text);
  const labels = nameLabelsOf(name);
  return (
    hasPlaceholder(text) ||
    (octetsOf(name) <= 253 && labels.every((label) => isHostLabel(label) && octetsOf(label) <= 63))
  );
};

/** They are two names here, but a service may treat them as one. */
const finalDot: TemplateCheck = {
  id: 'final-dot',
  find: (_, records) => {
    const dotted = records.filter(({ canonical }) => withoutFinalDot(canonical.name) !== canonical.name);
    if (dotted.length === 0) return [];
    const names = new Map(records.map((record) => [record.canonical.name, record]));
    return dotted.flatMap((record) => {
      const other = names.get(withoutFinalDot(record.canonical.name));
      const message = `the name ${shownName(record)} is here without its final dot too${other ? ` (${placeOf(other)})` : ''}; the service may treat both as one`;
      return other ? [{ entry: record, at: nameAt(record), message }] : [];
    });
  },
};

export const templateChecks: readonly TemplateCheck[] = [
  targetIsCname,
  subdomainName,
  ignoreMatchesNothing,
  finalDot,
  templateTtlUnusual,
];
