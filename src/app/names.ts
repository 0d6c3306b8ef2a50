import { formatProblem } from '../desired/problem.ts';
import { ArgumentError, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { suggestion } from '../lib/nearest.ts';
import { matchNames } from '../model/match-names.ts';
import type { RecordData } from '../model/record.ts';
import { nameById } from '../model/template.ts';
import { bindTemplates } from '../plan/bind.ts';
import { matchesPattern, parseRecordPattern, patternOf, type RecordPattern } from '../plan/record-pattern.ts';
import type { Client } from './client.ts';
import { describedIn, refuseUnused } from './template-files.ts';
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
  const errors = states.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  return matchTemplates(patterns, clients, [], (unknown) =>
    [
      `no template file describes ${unknown}`,
      ...(patterns.some((name) => /\.ya?ml$/.test(name))
        ? ['give the name of a template, not its file']
        : []),
      ...errors.map(formatProblem),
    ].join('\n'),
  );
};

/**
 * `matchNames` over what the files of these clients describe; a template may also be named by the id that its file states.
 * `more` are further known names. Throws an `ArgumentError` about the others.
 */
export const matchTemplates = async (
  patterns: readonly string[],
  clients: readonly Client[],
  more: readonly string[] = [],
  otherwise = (unknown: string): string => `no template is called ${unknown}`,
): Promise<readonly string[]> => {
  const states = await Promise.all(clients.map((client) => client.load()));
  const described = states.flatMap(describedIn);
  const known = [...more, ...described.map(({ template }) => template)];
  const matched = matchNames(patterns, known);
  const byId = described.filter(({ id }) => matched.unknown.includes(String(id)));
  refuseSharedNames(byId, described);
  const unknown = matched.unknown.filter((name) => !byId.some(({ id }) => String(id) === name));
  if (unknown.length > 0) throw new ArgumentError(otherwise(unknownNames(unknown, known)));
  return [...new Set([...matched.found, ...byId.map(({ template }) => template)])];
};

type Described = ReturnType<typeof describedIn>;

/** A template is known by its name, so that an id would mean all that have the same one. */
const refuseSharedNames = (meant: Described, described: Described): void => {
  for (const { id, template } of meant)
    if (described.some((other) => other.template === template && other.id !== id))
      throw new ArgumentError(
        `${id} is called ${template}, and so is another template: give that name for both, or --client; or, in the file of ${id}, leave out \`template:\`, and it is called \`${nameById(id!)}\``,
      );
};

/**
 * What lifts a hold, as the message of one client's template says, would lift those of all that are called the same: whose is
 * meant has to be said. Throws a `UserError`.
 */
export const refuseSeveral = async (
  names: readonly string[],
  clients: readonly Client[],
  { client: chosen }: Options,
): Promise<void> => {
  if (chosen !== undefined) return;
  const states = await Promise.all(clients.map((client) => client.load()));
  const described = states.map((state) => new Set(describedIn(state).map(({ template }) => template)));
  for (const name of names) {
    const having = clients.filter((_, index) => described[index]!.has(name));
    if (having.length < 2) continue;
    const shown = having.map(({ settings }) => settings.name).join(', ');
    throw new UserError(`${name} is a template of clients ${shown}: say whose with --client`);
  }
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
      const actual = await clients[index]!.service.listDnsTemplates();
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
