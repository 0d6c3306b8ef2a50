import { existsSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { ArgumentError, codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { isBelow } from '../lib/is-below.ts';
import { suggestion } from '../lib/nearest.ts';
import { isFragmentPath, type DesiredState, type Problem } from '../model/template.ts';
import { redactTexts, redactor } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import { settingsProblem, type ClientProblem } from '../settings/problems.ts';
import { createTemplateLoader, type LoadOptions } from '../source/load.ts';
import { isWithin, type Scan } from '../source/scan.ts';

export interface LoadHow {
  readonly strict?: boolean;
  readonly allowEmpty?: boolean;
  /** Paths besides the client's own directories. */
  readonly paths?: readonly string[];
}

/** Loads the template files of a client once. */
export const loadTemplates = (client: ClientSettings, how: LoadHow): Promise<DesiredState> =>
  createTemplateLoader().load(loadOptionsOf(client, how));

/** How the template files of a client are read. */
export const loadOptionsOf = (
  client: ClientSettings,
  { strict = false, allowEmpty = false, paths = [] }: LoadHow,
): LoadOptions => {
  const { override, config, client: own } = client.vars;
  return {
    paths: [...client.templates, ...paths],
    cwd: client.cwd,
    defaults: client,
    variables: { override, defaults: { ...config, ...own } },
    strict,
    allowEmpty,
  };
};

/**
 * Throws an `ArgumentError` for a `--var` that no file uses: it is probably misspelled, and the files would keep a value that
 * was meant to be another one. A file with errors may use any.
 */
export const refuseUnused = (
  clients: readonly Pick<ClientSettings, 'vars'>[],
  states: readonly DesiredState[],
): void => {
  if (states.some(({ problems }) => problems.some(({ severity }) => severity === 'error'))) return;
  const used = new Set(states.flatMap(({ usedVariables = [] }) => [...usedVariables]));
  const given = new Set(clients.flatMap(({ vars }) => Object.keys(vars.override)));
  const unused = [...given].filter((name) => !used.has(name));
  if (unused.length === 0) return;
  const lines = unused.map(
    (name) => `--var ${name}: no template file uses this variable${suggestion(name, used)}`,
  );
  throw new ArgumentError(lines.join('\n'));
};

/** What files describe, also those with errors. */
export const describedIn = ({ templates, unusable }: DesiredState) =>
  [...templates, ...unusable].flatMap(({ template, id }) => (template === null ? [] : { template, id }));

/** The problems of the files of these templates, or of all files if none is named. */
export const problemsOfTemplates = (state: DesiredState, names: readonly string[]): readonly Problem[] =>
  names.length === 0
    ? state.problems
    : problemsWhere(state, ({ template }) => template !== null && names.includes(template));

/**
 * The problems of these files, and of the fragments that they include. What is wrong with a fragment where another template
 * includes it, as a variable that is missing there, is not wrong with a template that can be used.
 */
const problemsWhere = (
  { templates, unusable, problems }: DesiredState,
  isMeant: (described: { readonly template: string | null; readonly file: string }) => boolean,
): readonly Problem[] => {
  const usable = templates.map((one) => ({ ...one, file: one.source.file })).filter(isMeant);
  const own = [...usable, ...unusable.filter(isMeant)].map(({ file }) => file);
  const errors = new Set([...own, ...unusable.filter(isMeant).flatMap((one) => one.fragments ?? [])]);
  const warnings = new Set([...errors, ...usable.flatMap((one) => one.fragments ?? [])]);
  return problems.filter(
    ({ file, severity }) =>
      file !== null &&
      ((severity === 'error' ? errors : warnings).has(file) || isMeant({ template: null, file })),
  );
};

/**
 * Checks the template files, or only these and those in these directories, whose paths start from `cwd`. The problems are
 * without secrets.
 */
export const validateClients = async (
  settings: Settings,
  files: readonly string[],
  { cwd, ...how }: Omit<LoadHow, 'paths'> & { readonly cwd: string },
): Promise<{ readonly problems: readonly ClientProblem[]; readonly states: readonly DesiredState[] }> => {
  const named = files.flatMap((file) => placesOf(cwd, file));
  const paths = pathsFor(settings, files, cwd);
  const found: string[] = [];
  const states = await Promise.all(
    settings.clients.map(async (client) => {
      const loader = createTemplateLoader();
      const allowEmpty = how.allowEmpty === true || files.length > 0;
      const state = await loader.load(loadOptionsOf(client, { ...how, allowEmpty, paths }));
      if (files.length === 0) return { client: client.name, state };
      const read = readAt(named, loader.scan()!, cwd);
      found.push(...read.flatMap(({ places }) => places));
      // The others are read since these may conflict with them.
      const shown = new Set(read.map((one) => one.path));
      const problems = problemsWhere(state, ({ file }) => shown.has(file));
      const count = read.filter(({ isCounted }) => isCounted).length;
      return { client: client.name, state: { ...state, problems, files: count } };
    }),
  );
  refuseUnused(
    settings.clients,
    states.map(({ state }) => state),
  );
  const isUnread = (file: string): boolean => {
    const places = placesOf(cwd, file);
    if (found.some((place) => isWithin(place, places))) return false;
    return how.allowEmpty !== true || !statSync(places[0]!).isDirectory();
  };
  const unread = states.length === 0 ? [] : files.filter(isUnread);
  const all = [
    ...settings.leftOut,
    ...unread.map((file) => ({ ...settingsProblem('', null, nothingRead), check: 'no-templates', file })),
    ...states.flatMap(({ client, state }) => state.problems.map((problem) => ({ ...problem, client }))),
  ];
  // Messages quote the file, and the settings may have named a file that contains a token.
  const problems = redactTexts(all, redactor(settings.allSecrets()));
  return { problems, states: states.map(({ state }) => state) };
};

const nothingRead =
  'nothing is read here: the name of a template file ends in .yaml or .yml, and its path has no part that begins with `.` and no link out of the directories given as templates; rename it, or name another path';

/** As it is written, and without links: two paths may lead to one file. */
const placesOf = (cwd: string, file: string): readonly string[] => {
  const place = path.resolve(cwd, file);
  return existsSync(place) ? [place, realpathSync(place)] : [place];
};

/** What lies outside of all clients' directories is checked for each client; so is what does not exist. */
const pathsFor = ({ clients }: Settings, files: readonly string[], cwd: string): readonly string[] => {
  const own = clients.flatMap(({ templates }) => templates.flatMap((one) => placesOf(cwd, one)));
  return files.filter((file) => {
    const places = placesOf(cwd, file);
    const isRead = places.some((one) => isWithin(one, own)) || own.some((one) => isWithin(one, places));
    return !isRead || !existsSync(places[0]!);
  });
};

/** What a load found at these places. Fragments count only where they are named. */
const readAt = (named: readonly string[], { found, included }: Scan, cwd: string) =>
  [...found.values(), ...Array.from(included.values(), (one) => one.found)]
    .map((one) => {
      const place = path.resolve(cwd, one.path);
      const isCounted = 'real' in one && (!isFragmentPath(place) || named.includes(place));
      return { path: one.path, isCounted, places: 'real' in one ? [place, one.real] : [place] };
    })
    .filter(({ places }) => places.some((place) => isWithin(place, named)));

/**
 * Where a directory has the earlier template files of each client: at the same places as the working directory, of which
 * it is another checkout; or it is a directory of template files.
 */
export const baseFiles = (
  directory: string,
  clients: readonly { readonly settings: ClientSettings }[],
  { cwd }: Pick<Io, 'cwd'>,
): ((client: ClientSettings) => readonly string[]) => {
  const root = path.resolve(cwd, directory);
  refuseUnlessDirectory(root, directory);
  /** What lies elsewhere is of no checkout, and the same before and after. */
  const filesOf = ({ templates }: ClientSettings): readonly string[] =>
    templates.map((one) => {
      const place = path.resolve(cwd, one);
      return isBelow(cwd, place) ? path.join(root, path.relative(cwd, place)) : place;
    });
  const isCheckout = clients.some(({ settings }) => filesOf(settings).some((one) => existsSync(one)));
  return isCheckout ? filesOf : () => [root];
};

const refuseUnlessDirectory = (root: string, name: string): void => {
  try {
    if (statSync(root).isDirectory()) return;
  } catch (error) {
    throw new UserError(`--base: cannot read ${name} (${codeOf(error)})`, { cause: error });
  }
  throw new UserError(`--base: ${name} is no directory: name one with the files of the base branch`);
};
