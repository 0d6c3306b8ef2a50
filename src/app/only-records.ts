import { HostingError } from '../hosting/errors.ts';
import { UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { suggestion } from '../lib/nearest.ts';
import type { RecordData } from '../model/record.ts';
import { bindTemplates } from '../plan/bind.ts';
import { matchesPattern, parseRecordPattern, patternOf, type RecordPattern } from '../plan/record-pattern.ts';
import type { Client } from './client.ts';
import type { Options } from './options.ts';
import { whileShown } from './progress.ts';

/** The records that `--only` names; none: all. Throws `UserError`, also if one of them is no record of these templates. */
export const readOnly = async (
  io: Pick<Io, 'stderr'>,
  options: Options,
  clients: readonly Client[],
  templates: readonly string[],
): Promise<readonly RecordPattern[]> => {
  const texts = Array.isArray(options['only']) ? options['only'].map(String) : [];
  const patterns = texts.map((text) => {
    const pattern = parseRecordPattern(text);
    if (typeof pattern === 'string') throw new UserError(`--only ${pattern}`);
    return pattern;
  });
  if (patterns.length > 0)
    await whileShown(io, 'reading templates', () => refuseUnknown(patterns, clients, templates));
  return patterns;
};

const refuseUnknown = async (
  patterns: readonly RecordPattern[],
  clients: readonly Client[],
  templates: readonly string[],
): Promise<void> => {
  const described = (await Promise.all(clients.map((client) => recordsIn(client, templates)))).flat();
  if (without(patterns, described).length === 0) return;
  // One that the file has dropped, and that would be parked.
  const listed = (await Promise.all(clients.map((client) => listedOf(client, templates)))).flat();
  const records = [...described, ...listed];
  const [unknown] = without(patterns, records);
  if (unknown === undefined) return;
  const known = new Set(records.map(patternOf));
  throw new UserError(
    `--only \`${unknown.text}\` is no record of these templates${suggestion(unknown.text, known)}`,
  );
};

const without = (
  patterns: readonly RecordPattern[],
  records: readonly RecordData[],
): readonly RecordPattern[] =>
  patterns.filter((pattern) => !records.some((record) => matchesPattern([pattern], record)));

const recordsIn = async (client: Client, names: readonly string[]): Promise<readonly RecordData[]> => {
  const { templates } = await client.load();
  return templates.filter(isAmong(names)).flatMap(({ records }) => records);
};

/** None if the service does not answer: the pass says so. */
const listedOf = async (client: Client, names: readonly string[]): Promise<readonly RecordData[]> => {
  const { templates, unusable } = await client.load();
  try {
    const actual = await client.service.listDnsTemplates();
    return bindTemplates(templates, unusable, actual).flatMap((one) =>
      'actual' in one && isAmong(names)(one.desired) ? one.actual.records : [],
    );
  } catch (error) {
    if (error instanceof HostingError) return [];
    throw error;
  }
};

const isAmong =
  (names: readonly string[]) =>
  ({ template }: { readonly template: string }): boolean =>
    names.length === 0 || names.includes(template);
