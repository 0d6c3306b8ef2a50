import { withoutFinalDot } from '../../plan/glob.ts';
import { canonicalName } from '../../model/canonical.ts';
import { isHostLabel, nameLabelsOf } from '../../model/host.ts';
import { hasPlaceholder } from '../../model/placeholder.ts';
import { definitionOf } from '../../model/types/table.ts';
import { kindOf } from '../../plan/conflict.ts';
import { quote } from '../diagnostic.ts';
import { nameAt, placeOf, type TemplateCheck } from './check.ts';
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

/** With the habit of zone files, `www.example.net` becomes `www.example.net.example.net`, which nobody can delete. */
const fullName: TemplateCheck = {
  id: 'full-name',
  find: ({ subdomains }, records) => {
    const zones = new Set(subdomains.map(({ text }) => withoutFinalDot(canonicalName(text))));
    return records.flatMap((record) => {
      const { name } = record.hosts;
      if (name === null) return [];
      const ends = zones.size === 0 ? [] : name.labels.map((_, index) => name.labels.slice(index).join('.'));
      const start = ends.findIndex((end) => zones.has(end));
      if (start < 0 && withoutFinalDot(name.text) === name.text) return [];
      const relative = name.labels.slice(0, start < 0 ? undefined : start).join('.');
      const why = start < 0 ? 'has a final dot' : `ends in ${quote(ends[start]!)}`;
      const message = `names are relative to the subdomain, and ${quote(name.text)} ${why}: write ${relative === '' ? '`@`' : quote(relative)}, or allow it if the service stores names so`;
      return [{ entry: record, at: nameAt(record), message }];
    });
  },
};

export const templateChecks: readonly TemplateCheck[] = [
  targetIsCname,
  subdomainName,
  ignoreMatchesNothing,
  fullName,
  templateTtlUnusual,
];
