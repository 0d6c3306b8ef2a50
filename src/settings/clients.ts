import path from 'node:path';
import { suggestion } from '../lib/nearest.ts';
import { matchNames } from '../model/match-names.ts';
import { ClientFiles } from './client-files.ts';
import { resolveClient, type ClientRequest, type ClientSettings } from './client.ts';
import { isObject, type Section } from './document.ts';
import type { Problems } from './problems.ts';
import type { Sources } from './sources.ts';
import { findTwins } from './twins.ts';

interface ClientsRequest extends Pick<ClientRequest, 'secrets' | 'needs' | 'override'> {
  /** Null: there is no settings file. */
  readonly config: Section | null;
  /** The names, or patterns, of the only clients that are wanted; empty: all. */
  readonly chosen: readonly string[];
  readonly sources: Sources;
  readonly previous: ClientFiles | null;
}

/**
 * The clients of the settings file, or of the files that it names: `files`, with what is wrong with them. The names are
 * also those of clients that cannot be used or were not chosen.
 */
export const readClients = (request: ClientsRequest) => {
  const { config, chosen, sources } = request;
  const { problems } = sources;
  const given = config?.value('clients');
  const files =
    config !== null && given !== undefined && !isObject(given)
      ? filesOf([given].flat().map(String), config, request)
      : null;
  const read = files?.read();
  const names = read?.names ?? (isObject(given) ? Object.keys(given) : ['default']);
  const { found, unknown } = matchNames(chosen, names);
  const wanted = chosen.length === 0 ? names : found;
  if (!problems.concern('clients') && !read?.problems.length)
    for (const name of unknown)
      problems.add('--client', `there is no client ${name}${othersThan(name, names)}`);
  const resolved = (name: string): ClientSettings => {
    const own = config !== null && isObject(given) ? [config.at('clients', name)] : [];
    const sections = [...own, ...sources.sections];
    return resolveClient({
      ...request,
      name,
      isOneOfSeveral: wanted.length > 1,
      sources: { ...sources, sections },
    });
  };
  const clients = read?.clients ?? names.filter((name) => wanted.includes(name)).map(resolved);
  return { clients, files, names, fileProblems: read?.problems ?? [] };
};

/** Nobody reads thousands of names. */
const othersThan = (name: string, names: readonly string[]): string =>
  names.length > 20 ? suggestion(name, names) : `, only ${names.join(', ')}`;

const filesOf = (
  paths: readonly string[],
  top: Section,
  { chosen, sources, previous, ...rest }: ClientsRequest,
): ClientFiles =>
  new ClientFiles({
    paths: paths.flatMap((given) => {
      const absolute = path.resolve(top.folder, given);
      if (!path.dirname(absolute).includes('*')) return { absolute, given };
      sources.problems.add(
        top.place('clients'),
        'expected * in the last part of a path only, as in ./clients/*.yaml',
        'clients',
      );
      return [];
    }),
    cwd: sources.cwd,
    chosen,
    hasTokens: rest.needs.tokens,
    resolve: (name, own, problems, isOneOfSeveral) =>
      resolveClient({
        ...rest,
        name,
        isOneOfSeveral,
        sources: { ...sources, problems, sections: [own, top] },
      }),
    previous: previous?.inUse ?? new Map(),
  });

/** Of clients in one file, the later one is wrong. */
export const refuseTwins = (clients: readonly ClientSettings[], problems: Problems): void => {
  const named = clients.map((client) => ({ file: `clients.${client.name}`, client }));
  for (const [one, { other, same }] of findTwins(named, true))
    if (named.indexOf(other) < named.indexOf(one))
      problems.add(one.file, `${same} as ${other.file}: keep one of them`);
};
