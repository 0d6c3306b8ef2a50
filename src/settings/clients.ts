import { readdirSync, statSync } from 'node:fs';
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
import { resolve, valueAt, writtenSource, type Reading } from './sources.ts';
import { clientFileRows, clientRows, fileRows } from './table.ts';

/** Clients that have a file each, by the paths of their files. */
export type ClientFiles = ReturnType<typeof openClientFiles>;

/**
 * The clients of the settings file, or of the files that it names: `files`, with what is wrong with them. The names are
 * also those of clients that cannot be used or were not chosen. `chosen`: the only ones that are wanted, by names or
 * patterns; empty: all.
 */
export const readClients = (reading: Reading, chosen: readonly string[], previous: ClientFiles | null) => {
  const { written, top, problems, needsService } = reading;
  const { clients: paths } = resolve({ clients: fileRows.clients }, [top]);
  const files = paths && openClientFiles(reading, paths, chosen, previous?.inUse() ?? new Map());
  const read = files?.read() ?? { clients: null, names: sectionNames(reading), problems: [], lines: [] };
  const { names } = read;
  const { found, unknown } = matchNames(chosen, names);
  for (const name of names.length === 0 || read.lines.length > 0 ? [] : unknown) {
    // Nobody reads thousands of names.
    const known = `${names.slice(0, 20).join(', ')}${names.length > 20 ? ' and others' : ''}`;
    problems.add(`--client: there is no client ${name}${suggestion(name, names) || `, only ${known}`}`);
  }
  const wanted = names.filter((name) => chosen.length === 0 || found.includes(name));
  const clients =
    read.clients ??
    wanted.map((name) => {
      const keys = ['clients', name];
      const isSection = valueAt(written, keys) !== undefined;
      const own = isSection ? writtenSource(written, keys, clientRows, problems) : {};
      const prefix = isSection ? `clients.${name}.` : '';
      return readClient({ ...reading, name, prefix, own, isOneOfSeveral: wanted.length > 1 });
    });
  if (files === null && needsService && problems.size === 0) {
    const placed = clients.map((client) => [`clients.${client.name}`, client] as const);
    for (const [place, twin] of findTwins(placed, [], true)) problems.add(`${place}: ${twin}`);
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

type InUse = ReadonlyMap<string, { readonly client: ClientSettings; readonly text: string | null }>;

/**
 * A client whose file is invalid, or that is the same as another one, keeps the settings that it had, if it had any. Where
 * a path leads to no file, no client is missed: a volume may not be there.
 */
const openClientFiles = (
  reading: Reading,
  paths: readonly { readonly absolute: string; readonly given: string }[],
  chosen: readonly string[],
  previous: InUse,
) => {
  const { cwd, needsService: hasTokens } = reading;
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
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats === undefined || (isTaken && !isAtRest(stats)) ? '' : timesMark(stats);
    };
    return JSON.stringify([files.map((file) => [file, markOf(file)]), missing]);
  };

  const readFile = (absolute: string) => {
    const file = shownFrom(cwd, absolute);
    const problems: Problems = new Set();
    const place = { absolute, file, cwd };
    const text = textOf(place, problems);
    const before = inUse.get(absolute);
    if (before !== undefined && text !== null && before.text === text)
      return { absolute, name: before.client.name, fresh: null };
    const written = parseWritten(text, place, problems);
    const own = writtenSource(written, [], clientFileRows, problems);
    const given = resolve({ name: clientFileRows.name }, [own]).name;
    const name = given ?? path.basename(absolute).replace(/\.ya?ml$/i, '');
    if (!namePattern.test(name)) problems.add(`${file}: ${expectedName}: rename the file, or set name in it`);
    return { absolute, name, fresh: { file, text, own, isBroken: written.isBroken, problems } };
  };

  return {
    /** What a later reading begins with. */
    inUse: () => inUse,
    directories,
    /** Whether the files are other ones than were read last, for a watcher. A directory that was replaced has another text. */
    look: (): { readonly change: unknown; readonly directories: ReadonlyMap<string, string> } => {
      const now = marksOf(find(), false);
      const identities = directories.map((directory) => {
        const stats = statSync(directory, { bigint: true, throwIfNoEntry: false });
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
      const isOneOfSeveral = chosen.length === 0 || wanted.length > 1;
      const fresh = wanted.flatMap(({ absolute, name, fresh: one }) => {
        if (one === null) return [];
        const { file, own, isBroken, problems } = one;
        const request = { ...reading, name, own, prefix: `${file}: `, isBroken, isOneOfSeveral, problems };
        return { ...one, absolute, name, client: readClient(request) };
      });
      const present = new Set(wanted.map(({ absolute }) => absolute));
      const next = new Map(
        [...inUse].filter(([absolute]) => found.missing.length > 0 || present.has(absolute)),
      );
      const usable = fresh.filter(({ problems }) => problems.size === 0);
      // Two files never stand for one client: neither of them does then, unless it did before.
      const twins = findTwins(
        usable.map(({ file, client }) => [file, client] as const),
        [...next].map(([absolute, { client }]) => [shownFrom(cwd, absolute), client] as const),
        hasTokens,
      );
      for (const { absolute, file, client, text, problems } of usable) {
        const twin = twins.get(file);
        if (twin === undefined) next.set(absolute, { client, text });
        else problems.add(`${file}: ${twin}`);
      }
      inUse = next;
      return {
        clients: [...next.values()].map(({ client }) => client),
        names,
        problems: [
          ...found.missing.map((line) => settingsProblem('', null, line)),
          ...fresh.flatMap(({ name, file, problems }) =>
            [...problems].map((line) => settingsProblem(name, file, line)),
          ),
        ],
        lines: [...found.missing, ...fresh.flatMap(({ problems }) => [...problems])],
      };
    },
  };
};

/** The directory of a path, and whether a file of it is meant. Endings may be in capitals. */
const folderOf = (absolute: string) => {
  const isYaml = (name: string): boolean => /\.ya?ml$/i.test(name);
  const inSmall = (name: string): string =>
    isYaml(name) ? name.replace(/\w+$/, (end) => end.toLowerCase()) : name;
  const last = path.basename(absolute);
  const isFolder = !isYaml(last) && !last.includes('*');
  const glob = plainGlob(isFolder ? '*' : inSmall(last));
  return {
    directory: isFolder ? absolute : path.dirname(absolute),
    fits: (name: string): boolean =>
      !/^(\.|lost\+found$)/.test(name) && (isYaml(name) || !isFolder) && matchesGlob(glob, inSmall(name)),
  };
};

type Placed = readonly (readonly [place: string, client: ClientSettings])[];

/** What is wrong with fresh clients that are the same as another one: two would undo each other's writes. */
const findTwins = (fresh: Placed, inUse: Placed, hasTokens: boolean): ReadonlyMap<string, string> => {
  const identities = (clients: Placed) =>
    clients.flatMap(([place, client]) => {
      const access = hasTokens ? accessOf(client) : null;
      const name = { place, key: client.name, same: `the same client name, ${client.name},`, advice: '' };
      const same = 'the same base URL and client token';
      const token = { place, key: access ?? '', same, advice: ', or give each its own token' };
      return access === null ? [name] : [token, name];
    });
  const own = identities(fresh);
  const byKey = groupBy([...identities(inUse), ...own], ({ key }) => key);
  return new Map(
    own.flatMap(({ place, key, same, advice }) => {
      const other = byKey.get(key)?.find((one) => one.place !== place);
      const problem = `${same} as ${other?.place}: keep one of them${advice}`;
      return other === undefined ? [] : [[place, problem] as const];
    }),
  );
};

/** Of clients that stay, token files are not read each time that another one changes. */
const known = new WeakMap<ClientSettings, string>();

/** Null if its token cannot be read any more. */
const accessOf = (client: ClientSettings): string | null => {
  try {
    const access = known.get(client) ?? JSON.stringify([client.baseUrl, client.tokens.read().clientToken]);
    known.set(client, access);
    return access;
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
};
