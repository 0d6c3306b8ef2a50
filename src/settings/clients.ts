import { suggestion } from '../lib/nearest.ts';
import { matchNames } from '../model/match-names.ts';
import { ClientFiles } from './client-files.ts';
import { readClient } from './client.ts';
import { expectedName, isMapping, namePattern } from './kinds.ts';
import { resolve, valueAt, writtenSource, type Reading } from './sources.ts';
import { clientRows, fileRows } from './table.ts';
import { findTwins } from './twins.ts';

/**
 * The clients of the settings file, or of the files that it names: `files`, with what is wrong with them. The names are
 * also those of clients that cannot be used or were not chosen. `chosen`: the only ones that are wanted, by names or
 * patterns; empty: all.
 */
export const readClients = (reading: Reading, chosen: readonly string[], previous: ClientFiles | null) => {
  const { written, top, cwd, problems, needsService } = reading;
  const { clients: paths } = resolve({ clients: fileRows.clients }, [top]);
  const files =
    paths &&
    new ClientFiles({
      paths,
      cwd,
      chosen,
      hasTokens: needsService,
      clientOf: ({ file, ...client }, ownProblems, isOneOfSeveral) =>
        readClient({ ...reading, ...client, prefix: `${file}: `, isOneOfSeveral, problems: ownProblems }),
      previous,
    });
  const read = files?.read() ?? { clients: null, names: sectionNames(reading), problems: [], lines: [] };
  const { names } = read;
  const { found, unknown } = matchNames(chosen, names);
  for (const name of names.length === 0 || read.lines.length > 0 ? [] : unknown)
    problems.add(
      `--client: there is no client ${name}${suggestion(name, names) || `, only ${someOf(names)}`}`,
    );
  const wanted = names.filter((name) => chosen.length === 0 || found.includes(name));
  const clients =
    read.clients ??
    wanted.map((name) => {
      const keys = ['clients', name];
      const isSection = valueAt(written, keys) !== undefined;
      const own = isSection ? writtenSource(written, keys, clientRows, problems) : {};
      const prefix = isSection ? `clients.${name}.` : '';
      return readClient({
        ...reading,
        name,
        prefix,
        own,
        isOneOfSeveral: wanted.length > 1,
      });
    });
  if (files === null && needsService && problems.size === 0) {
    const named = clients.map((client) => [`clients.${client.name}`, client] as const);
    for (const [place, twin] of findTwins(named, true)) problems.add(`${place}: ${twin}`);
  }
  return { ...read, clients, files };
};

/** Without any, there is one client. */
const sectionNames = ({ written, problems }: Reading): readonly string[] => {
  const sections = valueAt(written, ['clients']);
  if (!isMapping(sections)) return sections === undefined && !written.isBroken ? ['default'] : [];
  const names = Object.keys(sections);
  if (names.length === 0)
    problems.add(`${written.placeOf(['clients'])}: expected at least one client by its name`);
  for (const name of names)
    if (!namePattern.test(name)) problems.add(`${written.placeOf(['clients', name])}: ${expectedName}`);
  return names;
};

/** Nobody reads thousands of names. */
const someOf = (names: readonly string[]): string =>
  `${names.slice(0, 20).join(', ')}${names.length > 20 ? ' and others' : ''}`;
