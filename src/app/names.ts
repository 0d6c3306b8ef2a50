import { formatProblem } from '../desired/problem.ts';
import { ArgumentError, UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { Io } from '../io.ts';
import { suggestion } from '../lib/nearest.ts';
import { matchNames } from '../model/match-names.ts';
import type { RecordData } from '../model/record.ts';
import { nameById } from '../model/template.ts';
import { bindTemplates } from '../plan/bind.ts';
import { matchesPattern, parseRecordPattern, patternOf, type RecordPattern } from '../plan/record-pattern.ts';
import type { Client } from './client.ts';
import { describedIn, refuseUnused, type Described } from './load-templates.ts';
import type { Options } from './options.ts';
import { whileShown } from './progress.ts';

/**
 * The template names that the patterns match. A name that no file describes is probably misspelled, so
 * nothing is done. Or its file is invalid, so the errors of the files are shown too.
 */
export const resolveNames = async (
  clients: readonly Client[],
  patterns: readonly string[],
): Promise<readonly string[]> => {
  const states = await Promise.all(clients.map((client) => client.load()));
  refuseUnused(
    clients.map(({ settings }) => settings),
    states,
  );
  if (patterns.length === 0) return [];
  const { found, unknown, known } = await matchTemplates(patterns, clients);
  if (unknown.length === 0) return found;
  const errors = states.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  throw new ArgumentError(
    [
      `no template file describes ${unknownNames(unknown, known)}`,
      ...(unknown.some((name) => /\.ya?ml$/.test(name)) ? ['give the name of a template, not its file'] : []),
      ...errors.map(formatProblem),
    ].join('\n'),
  );
};

/**
 * `matchNames` over what the files of these clients describe; a template may also be named by its id or, if its file
 * states the id alone, by its name at the service. `more` are further known names.
 */
export const matchTemplates = async (
  patterns: readonly string[],
  clients: readonly Client[],
  more: readonly string[] = [],
): Promise<ReturnType<typeof matchNames> & { readonly known: readonly string[] }> => {
  const described = await Promise.all(clients.map(async (client) => describedIn(await client.load())));
  const known = [...more, ...described.flat().map(({ template }) => template)];
  const { found, unknown } = matchNames(patterns, known);
  if (unknown.length === 0) return { found, unknown, known };
  const stated = new Map(
    described.flat().flatMap(({ id, template }) => (id === null ? [] : [[String(id), template]])),
  );
  const mayBeListed =
    [...stated].some(([id, name]) => name === nameById(Number(id))) ||
    unknown.some((one) => /^\d+$/.test(one));
  const isAsked = mayBeListed && unknown.some((one) => !stated.has(one));
  const others = isAsked
    ? await Promise.all(clients.map((client, index) => listedNames(client, described[index]!)))
    : [];
  const aliases = new Map([...stated, ...others.flat()]);
  const again = matchNames(unknown, aliases.keys());
  const all = new Set([...found, ...again.found.map((alias) => aliases.get(alias)!)]);
  return { found: [...all], unknown: again.unknown, known };
};

/** Ids and names at the service of described templates, each with the name by which commands know it. */
const listedNames = async ({ service }: Client, described: readonly Described[]) => {
  const byId = new Map(described.map(({ id, template }) => [id, template]));
  const names = new Set(byId.values());
  const listed = await service.listDnsTemplates().catch(noneWithoutService);
  return listed.flatMap(({ id, name, publiclyAvailable }): (readonly [string, string])[] => {
    const own = byId.get(id) ?? (!publiclyAvailable && names.has(name) ? name : undefined);
    return own === undefined
      ? []
      : [
          [name, own],
          [String(id), own],
        ];
  });
};

/** Then what the files say is all that is known. */
const noneWithoutService = (error: unknown): never[] => {
  if (error instanceof HostingError) return [];
  throw error;
};

/** Names that nothing has, each with a known one that may be meant. */
export const unknownNames = (unknown: readonly string[], known: Iterable<string>): string =>
  unknown.map((name) => `${name}${suggestion(name, known)}`).join(', ');

/** The records that are named; none: all. Throws `UserError`, also if one of them is no record of these templates. */
export const readOnly = async (
  io: Pick<Io, 'stderr'>,
  texts: Options[string] | readonly string[],
  clients: readonly Client[],
  names: readonly string[],
  flag = '--only ',
): Promise<readonly RecordPattern[]> => {
  const patterns = [texts ?? []].flat().map((text) => {
    const pattern = parseRecordPattern(String(text));
    if (typeof pattern === 'string') throw new UserError(`${flag}${pattern}`);
    return pattern;
  });
  const without = (records: readonly RecordData[]): RecordPattern | undefined =>
    patterns.find((pattern) => !records.some((record) => matchesPattern([pattern], record)));
  const isAmong = ({ template }: { readonly template: string }): boolean =>
    names.length === 0 || names.includes(template);
  const found = await whileShown(io, 'reading templates', async () => {
    const states = await Promise.all(clients.map((client) => client.load()));
    const described = states.flatMap(({ templates }) => templates.filter(isAmong));
    const records: RecordData[] = described.flatMap((template) => template.records);
    if (without(records) === undefined) return records;
    // One that the file has dropped, and that would be parked.
    for (const [index, { templates, unusable }] of states.entries()) {
      const actual = await clients[index]!.service.listDnsTemplates().catch(noneWithoutService);
      for (const one of bindTemplates(templates, unusable, actual))
        if ('actual' in one && isAmong(one.desired)) records.push(...one.actual.records);
    }
    return records;
  });
  const unknown = without(found);
  if (unknown === undefined) return patterns;
  const meant = suggestion(unknown.text, new Set(found.map(patternOf)));
  throw new UserError(`${flag}\`${unknown.text}\` is no record of these templates${meant}`);
};
