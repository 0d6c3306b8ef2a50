import { suggestion } from '../lib/nearest.ts';
import { resolveClient, type ClientRequest, type ClientSettings } from './client.ts';
import { matchNames } from '../plan/match-names.ts';
import { ClientFiles, type ClientProblem } from './client-files.ts';
import { clientPathOf, type ClientPath } from './client-paths.ts';
import type { ConfigFile } from './config-file.ts';
import type { Section } from './document.ts';
import type { Problems } from './problems.ts';
import type { Sources } from './resolve.ts';
import { findTwins } from './twins.ts';

export interface AllClientsRequest extends Pick<ClientRequest, 'secrets' | 'needs' | 'override'> {
  readonly config: ConfigFile | null;
  /** The names, or patterns, of the only clients that are wanted; empty: all. */
  readonly chosen: readonly string[];
  readonly sources: Omit<Sources, 'sections'>;
  readonly previous: ClientFiles | null;
}

export interface AllClients {
  readonly clients: readonly ClientSettings[];
  /** Null if clients have no files of their own. */
  readonly files: ClientFiles | null;
  /** Also of clients that cannot be used or were not chosen. */
  readonly names: readonly string[];
  /** What is wrong with the clients' files. */
  readonly fileProblems: readonly ClientProblem[];
}

/** The clients of the settings file, or of the files that it names. */
export const readClients = (request: AllClientsRequest): AllClients => {
  const { config, chosen, sources } = request;
  const files = config?.clientPaths ? filesOf(config.clientPaths, config, request) : null;
  const read = files?.read();
  const all = read ? [] : sectionsIn(config);
  const names = read?.names ?? all.map(({ name }) => name);
  const { found, unknown } = matchNames(chosen, names);
  const wanted = chosen.length === 0 ? names : found;
  if (!sources.problems.concern('clients') && !read?.problems.length)
    for (const name of unknown)
      sources.problems.add('--client', `there is no client ${name}${othersThan(name, names)}`);
  const clients =
    read?.clients ??
    all
      .filter(({ name }) => wanted.includes(name))
      .map(({ name, sections }) =>
        resolveClient({
          ...request,
          name,
          isOneOfSeveral: wanted.length > 1,
          sources: { ...sources, sections },
        }),
      );
  return { clients, files, names, fileProblems: read?.problems ?? [] };
};

/** Two clients with the same templates would undo each other's writes. */
export const checkTwins = (clients: readonly ClientSettings[], problems: Problems): void => {
  const all = clients.map((client) => ({ file: `clients.${client.name}`, client }));
  // One look at thousands of clients is enough where there are none.
  if (findTwins([], all, true).size === 0) return;
  const [first, ...others] = all;
  const known = first ? [first] : [];
  for (const one of others) {
    const twin = findTwins(known, [one], true).get(one);
    if (twin === undefined) known.push(one);
    else problems.add(one.file, twin);
  }
};

const filesOf = (
  paths: readonly string[],
  { top }: ConfigFile,
  { chosen, needs, sources, previous, ...rest }: AllClientsRequest,
): ClientFiles =>
  new ClientFiles({
    paths: clientPathsIn(paths, top, sources.problems),
    cwd: sources.cwd,
    chosen,
    hasTokens: needs.tokens,
    resolve: (name, own, problems, isOneOfSeveral) =>
      resolveClient({
        ...rest,
        needs,
        name,
        isOneOfSeveral,
        sources: { ...sources, problems, sections: [own, top] },
      }),
    ...(previous ? { previous: previous.inUse } : {}),
  });

interface NamedSections {
  readonly name: string;
  /** The client's own section, then the top level. */
  readonly sections: readonly Section[];
}

const sectionsIn = (config: ConfigFile | null): readonly NamedSections[] =>
  config?.clients
    ? [...config.clients].map(([name, own]) => ({ name, sections: [own, config.top] }))
    : [{ name: 'default', sections: config ? [config.top] : [] }];

/** Nobody reads thousands of names. */
const othersThan = (name: string, names: readonly string[]): string =>
  names.length > maxListed ? suggestion(name, names) : `, only ${names.join(', ')}`;

const maxListed = 20;

const clientPathsIn = (given: readonly string[], top: Section, problems: Problems): ClientPath[] =>
  given.flatMap((one) => {
    const path = clientPathOf(one, top.folder);
    if (path === null)
      problems.add(
        top.place('clients'),
        'expected * in the last part of a path only, as in ./clients/*.yaml',
        'clients',
      );
    return path ?? [];
  });
