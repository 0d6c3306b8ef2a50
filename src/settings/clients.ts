import { readdirSync, statSync, type BigIntStats } from 'node:fs';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import { suggestion } from '../lib/nearest.ts';
import { matchesGlob, plainGlob } from '../model/glob.ts';
import { groupBy } from '../model/group.ts';
import { matchNames } from '../model/match-names.ts';
import { isAtRest, timesMark } from '../regular-file.ts';
import { readClient, type ClientSettings } from './client.ts';
import { parseWritten, textOf } from './file.ts';
import { expectedName, isMapping, namePattern, shownFrom } from './kinds.ts';
import { settingsProblem, type Problems } from './problems.ts';
import { resolve, valueAt, writtenSource, type SettingSources } from './sources.ts';
import { clientFileRows, clientRows, fileRows } from './table.ts';

/** Clients that have a file each, by the paths of their files. */
export type ClientFiles = ReturnType<typeof openClientFiles>;

/**
 * The clients of the settings file, or of the files that it names: `files`, with what is wrong with them. The names are
 * also those of clients that cannot be used or were not chosen. `chosen`: the only ones that are wanted, by names or
 * patterns; empty: all.
 */
export const readClients = (
  reading: SettingSources,
  chosen: readonly string[],
  previous: ClientFiles | null,
) => {
  const { clients: paths } = resolve({ clients: fileRows.clients }, reading.top);
  const files = paths && openClientFiles(reading, paths, chosen, previous?.inUse() ?? new Map());
  const read = files?.read() ?? readSections(reading, chosen);
  const { names } = read;
  for (const name of names.length === 0 || read.lines.length > 0 ? [] : matchNames(chosen, names).unknown) {
    // Nobody reads thousands of names.
    const known = `${names.slice(0, 20).join(', ')}${names.length > 20 ? ' and others' : ''}`;
    const meant = suggestion(name, names) || `, only ${known}`;
    reading.problems.add(`--client: there is no client ${name}${meant}`);
  }
  return { ...read, files };
};

type PlacedClient = ReturnType<typeof placed>;

/**
 * A client, where it is described, and by what the service knows it: null where its token is not needed, or cannot be
 * read.
 */
const placed = (place: string, client: ClientSettings, { needsService }: SettingSources) => {
  try {
    const access = needsService ? `${client.baseUrl} ${client.tokens.read().clientToken}` : null;
    return { place, client, access };
  } catch (error) {
    if (error instanceof UserError) return { place, client, access: null };
    throw error;
  }
};

/** Tells what is wrong with a client that is the same as another one: two would undo each other's writes. */
const twinsAmong = (all: readonly PlacedClient[]): ((one: PlacedClient) => string | null) => {
  const byName = groupBy(all, ({ client }) => client.name);
  const byAccess = groupBy(all, ({ access }) => access ?? '');
  return ({ place, client: { name }, access }) => {
    const other = (same: readonly PlacedClient[] = []) => same.find((one) => one.place !== place)?.place;
    const namesake = other(byName.get(name));
    if (namesake !== undefined) return `the same client name, ${name}, as ${namesake}: keep one of them`;
    const double = access === null ? undefined : other(byAccess.get(access));
    if (double === undefined) return null;
    return `the same base URL and client token as ${double}: keep one of them, or give each its own token`;
  };
};

/** Without any, there is one client. */
const readSections = (reading: SettingSources, chosen: readonly string[]) => {
  const { written, problems } = reading;
  const sections = valueAt(written, ['clients']) ?? (written.isBroken ? {} : { default: null });
  const names = isMapping(sections) ? Object.keys(sections) : [];
  if (names.length === 0 && isMapping(sections) && !written.isBroken)
    problems.add(`${written.placeOf(['clients'])}: expected at least one client by its name`);
  for (const name of names)
    if (!namePattern.test(name)) problems.add(`${written.placeOf(['clients', name], true)}: ${expectedName}`);
  const wanted = chosen.length === 0 ? names : matchNames(chosen, names).found;
  const clients = wanted.map((name) => {
    const isSection = valueAt(written, ['clients', name]) !== undefined;
    const own = isSection ? writtenSource(written, ['clients', name], clientRows, problems) : {};
    const prefix = isSection ? `clients.${name}.` : '';
    return readClient({ ...reading, name, prefix, own, isOneOfSeveral: wanted.length > 1 });
  });
  const all = problems.size > 0 ? [] : clients.map((one) => placed(`clients.${one.name}`, one, reading));
  const twinOf = twinsAmong(all);
  for (const one of all) {
    const twin = twinOf(one);
    if (twin !== null) problems.add(`${one.place}: ${twin}`);
  }
  return { clients, names, problems: [], lines: [] };
};

/** Clients by the paths of their files, with the texts that they were read from. */
type InUse = ReadonlyMap<string, PlacedClient & { readonly text: string | null }>;

/**
 * A client whose file is invalid, or that is the same as another one, keeps the settings that it had, if it had any. Where
 * a path leads to no file, no client is missed: a volume may not be there.
 */
const openClientFiles = (
  reading: SettingSources,
  paths: readonly { readonly absolute: string; readonly given: string }[],
  chosen: readonly string[],
  previous: InUse,
) => {
  const { cwd } = reading;
  // What is wrong may have been put right elsewhere, such as in the file of a token: all are read once more.
  let inUse: InUse = new Map([...previous].map(([absolute, one]) => [absolute, { ...one, text: null }]));
  let taken = '';
  const directories = [...new Set(paths.map(({ absolute }) => folderOf(absolute).directory))];

  /** In the order of the paths and of their names; with the paths that lead to none. */
  const find = (): { readonly files: readonly string[]; readonly missing: readonly string[] } => {
    const files = new Set<string>();
    const missing: string[] = [];
    for (const { absolute, given } of paths) {
      const { directory, fits } = folderOf(absolute);
      try {
        const names = readdirSync(directory).filter(fits).sort();
        if (names.length === 0) missing.push(`clients: there is no file ${given} (in ${directory})`);
        for (const name of names) files.add(path.join(directory, name));
      } catch (error) {
        missing.push(`clients: there is no file ${given}: cannot read ${directory} (${codeOf(error)})`);
      }
    }
    return { files: [...files], missing };
  };

  /** What changed a moment ago may change again without another time: such a file is read once more. */
  const marksOf = ({ files, missing }: ReturnType<typeof find>, isTaken: boolean): string => {
    const markOf = (file: string): string => {
      const stats = statsOf(file);
      return stats === null || (isTaken && !isAtRest(stats)) ? '' : timesMark(stats);
    };
    return JSON.stringify([files.map((file) => [file, markOf(file)]), missing]);
  };

  /** `own` is null if the file is the one in use. */
  const readFile = (absolute: string) => {
    const file = shownFrom(cwd, absolute);
    const problems: Problems = new Set();
    const place = { absolute, file, cwd };
    const text = textOf(place, problems);
    const read = { absolute, file, text, problems };
    const before = inUse.get(absolute);
    if (before !== undefined && text !== null && before.text === text)
      return { ...read, name: before.client.name, own: null, isBroken: false };
    const written = parseWritten(text, place, problems);
    const own = writtenSource(written, [], clientFileRows, problems);
    const given = resolve({ name: clientFileRows.name }, own).name;
    const name = given ?? path.basename(absolute).replace(/\.ya?ml$/i, '');
    if (!namePattern.test(name)) problems.add(`${file}: ${expectedName}: rename the file, or set name in it`);
    return { ...read, name, own, isBroken: written.isBroken };
  };

  return {
    /** What a later reading begins with. */
    inUse: () => inUse,
    directories,
    /** Whether the files are other ones than were read last, for a watcher. A directory that was replaced has another text. */
    look: (): { readonly change: unknown; readonly directories: ReadonlyMap<string, string> } => {
      const now = marksOf(find(), false);
      const identities = directories.map((directory) => {
        const stats = statsOf(directory);
        return [directory, `${stats?.dev}:${stats?.ino}`] as const;
      });
      return { change: now === taken ? null : now, directories: new Map(identities) };
    },
    /**
     * Reads the files again. A client whose file is unchanged is the same object as before. The names are also those of
     * files that cannot be used.
     */
    read: () => {
      const found = find();
      taken = marksOf(found, true);
      const all = found.files.map(readFile);
      const names = all.map(({ name }) => name);
      const meant = new Set(chosen.length === 0 ? names : matchNames(chosen, names).found);
      const wanted = all.filter(({ name }) => meant.has(name));
      const present = new Set(wanted.map(({ absolute }) => absolute));
      const next = new Map(
        [...inUse].filter(([absolute]) => found.missing.length > 0 || present.has(absolute)),
      );
      const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
      const fresh = wanted.flatMap(({ own, ...one }) => {
        if (own === null) return [];
        const client = readClient({ ...reading, ...one, own, prefix: `${one.file}: `, isOneOfSeveral });
        return { ...one, client };
      });
      // Also with other errors a file says whose it is.
      const named = fresh
        .filter(({ isBroken }) => !isBroken)
        .map((one) => ({
          ...one,
          place: one.file,
          ...(one.problems.size > 0 ? { access: null } : placed(one.file, one.client, reading)),
        }));
      // Two files never stand for one client: neither of them does then, unless it did before.
      const twinOf = twinsAmong([...next.values(), ...named]);
      for (const { absolute, problems, ...one } of named) {
        const twin = twinOf(one);
        if (twin !== null) problems.add(`${one.file}: ${twin}`);
        else if (problems.size === 0) next.set(absolute, one);
      }
      inUse = next;
      const faults = fresh.flatMap(({ name, file, problems }) =>
        [...problems].map((line) => ({ line, problem: settingsProblem(name, file, line) })),
      );
      return {
        clients: [...next.values()].map(({ client }) => client),
        names,
        problems: [
          ...found.missing.map((line) => settingsProblem('', null, line)),
          ...faults.map(({ problem }) => problem),
        ],
        lines: [...found.missing, ...faults.map(({ line }) => line)],
      };
    },
  };
};

/** Null where it cannot be looked at: reading it says why. */
const statsOf = (file: string): BigIntStats | null => {
  try {
    return statSync(file, { bigint: true });
  } catch {
    return null;
  }
};

/** The directory of a path, and which names of files in it are meant: YAML, in whatever case. */
const folderOf = (absolute: string) => {
  const last = path.basename(absolute).toLowerCase();
  const isFolder = !/\.ya?ml$/.test(last) && !last.includes('*');
  const glob = plainGlob(isFolder ? '*' : last);
  return {
    directory: isFolder ? absolute : path.dirname(absolute),
    fits: (name: string): boolean => /^(?!\.).*\.ya?ml$/i.test(name) && matchesGlob(glob, name.toLowerCase()),
  };
};
