import { HostingError } from '../hosting/errors.ts';
import { suggestion } from '../lib/nearest.ts';
import {
  isFragmentPath,
  nameById,
  type ActualTemplate,
  type DesiredState,
  type Problem,
} from '../model/template.ts';
import { matchNames } from '../model/match-names.ts';

interface SearchedClient {
  readonly load: () => Promise<DesiredState>;
  readonly service: { readonly listDnsTemplates: () => Promise<readonly ActualTemplate[]> };
}

/**
 * `matchNames` over what the files of these clients describe; a template may also be named by its id or, if its file
 * states the id alone, by its name at the service. `more` are further known names.
 */
export const matchTemplates = async (
  patterns: readonly string[],
  clients: readonly SearchedClient[],
  more: readonly string[] = [],
): Promise<ReturnType<typeof matchNames> & { readonly known: readonly string[] }> => {
  const loaded = await Promise.all(
    clients.map(async (client) => ({ client, names: namesIn(await client.load()) })),
  );
  const known = [...more, ...loaded.flatMap(({ names }) => [...names.values()])];
  const { found, unknown } = matchNames(patterns, known);
  if (unknown.length === 0) return { found, unknown, known };
  const others = await Promise.all(loaded.map(({ client, names }) => otherNames(unknown, names, client)));
  const aliases = new Map(others.flatMap((one) => [...one]));
  const again = matchNames(unknown, aliases.keys());
  return {
    found: [...new Set([...found, ...again.found.map((alias) => aliases.get(alias)!)])],
    unknown: again.unknown,
    known,
  };
};

/** Names that nothing has, each with a known one that may be meant. */
export const unknownNames = (unknown: readonly string[], known: Iterable<string>): string =>
  unknown.map((name) => `${name}${suggestion(name, known)}`).join(', ');

type Names = ReadonlyMap<{ readonly id: number | null }, string>;

const namesIn = ({ templates, unusable }: DesiredState): Names =>
  new Map([...templates, ...unusable].flatMap((one) => (one.template === null ? [] : [[one, one.template]])));

/** Ids, and names at the service, of described templates, each with the name by which commands know it. */
const otherNames = async (
  wanted: readonly string[],
  names: Names,
  { service }: SearchedClient,
): Promise<ReadonlyMap<string, string>> => {
  const byId = new Map([...names].flatMap(([{ id }, name]) => (id === null ? [] : [[id, name] as const])));
  const stated = [...byId].map(([id, name]) => [String(id), name] as const);
  const mayBeListed =
    [...byId].some(([id, name]) => name === nameById(id)) || wanted.some((text) => /^\d+$/.test(text));
  if (!mayBeListed || wanted.every((text) => stated.some(([id]) => id === text))) return new Map(stated);
  const named = new Set(names.values());
  try {
    const listed = (await service.listDnsTemplates()).flatMap(({ id, name, publiclyAvailable }) => {
      const own = byId.get(id) ?? (!publiclyAvailable && named.has(name) ? name : undefined);
      return own === undefined
        ? []
        : ([
            [name, own],
            [String(id), own],
          ] as const);
    });
    return new Map([...stated, ...listed]);
  } catch (error) {
    // Without the service the names of the files are all that is known.
    if (error instanceof HostingError) return new Map(stated);
    throw error;
  }
};

/** The problems of the files of these templates, or of all files if none is named. */
export const problemsOfTemplates = (
  { templates, unusable, problems }: DesiredState,
  names: readonly string[],
): readonly Problem[] => {
  if (names.length === 0) return problems;
  const isNamed = ({ template }: { readonly template: string | null }): boolean =>
    template !== null && names.includes(template);
  const broken = unusable.filter(isNamed);
  const files = new Set([
    ...broken.map(({ file }) => file),
    ...templates
      .filter(isNamed)
      .flatMap(({ source, records }) => [source.file, ...records.map((record) => record.source.file)]),
  ]);
  // The fragments of an invalid file are not known here: any of them may have the error.
  const concerns = (file: string): boolean => files.has(file) || (broken.length > 0 && isFragmentPath(file));
  return problems.filter(({ file }) => file !== null && concerns(file));
};
