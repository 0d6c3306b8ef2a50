import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { ArgumentError, codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { isBelow } from '../lib/is-below.ts';
import { suggestion } from '../lib/nearest.ts';
import { isFragmentPath, type DesiredState, type Problem } from '../model/template.ts';
import { redactTexts, redactor } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { ClientProblem } from '../settings/problems.ts';
import { createTemplateLoader, type LoadOptions } from '../source/load.ts';

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
export const problemsOfTemplates = (
  { templates, unusable, problems }: DesiredState,
  names: readonly string[],
): readonly Problem[] => {
  if (names.length === 0) return problems;
  const broken = unusable.filter(({ template }) => template !== null && names.includes(template));
  const described = templates.filter(({ template }) => names.includes(template));
  const files = new Set([
    ...broken.map(({ file }) => file),
    ...described.flatMap(({ source, records }) => [source.file, ...records.map((one) => one.source.file)]),
  ]);
  // The fragments of an invalid file are not known here: any of them may have the error.
  const concerns = (file: string): boolean => files.has(file) || (broken.length > 0 && isFragmentPath(file));
  return problems.filter(({ file }) => file !== null && concerns(file));
};

/** Checks the template files, or only these, whose paths start from `cwd`. The problems are without secrets. */
export const validateClients = async (
  settings: Settings,
  files: readonly string[],
  { cwd, ...how }: Omit<LoadHow, 'paths'> & { readonly cwd: string },
): Promise<{ readonly problems: readonly ClientProblem[]; readonly states: readonly DesiredState[] }> => {
  const states = await Promise.all(
    settings.clients.map(async (client) => {
      const state = await loadTemplates(client, { ...how, paths: pathsFor(settings, files, cwd) });
      return { client: client.name, state: files.length === 0 ? state : problemsIn(state, files, cwd) };
    }),
  );
  refuseUnused(
    settings.clients,
    states.map(({ state }) => state),
  );
  const found = [
    ...settings.leftOut,
    ...states.flatMap(({ client, state }) => state.problems.map((problem) => ({ ...problem, client }))),
  ];
  // Messages quote the file, and the settings may have named a file that contains a token.
  const problems = redactTexts(found, redactor(settings.allSecrets()));
  return { problems, states: states.map(({ state }) => state) };
};

/** A file outside of all clients' directories is checked for each client; so is one that does not exist. */
const pathsFor = ({ clients }: Settings, files: readonly string[], cwd: string): readonly string[] => {
  const isIn = ({ templates }: ClientSettings, file: string): boolean =>
    templates.some((directory) => isBelow(path.resolve(cwd, directory), path.resolve(cwd, file)));
  const isRead = (file: string): boolean =>
    existsSync(path.resolve(cwd, file)) && clients.some((other) => isIn(other, file));
  return files.filter((file) => !isRead(file));
};

/** The problems of these files. The others are read since these may conflict with them. */
const problemsIn = (state: DesiredState, files: readonly string[], cwd: string): DesiredState => {
  const paths = new Set(files.map((file) => path.resolve(cwd, file)));
  const problems = state.problems.filter(({ file }) => file !== null && paths.has(path.resolve(cwd, file)));
  return { ...state, problems, files: files.length };
};

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
