import { ArgumentError } from '../errors.ts';
import { suggestion } from '../lib/nearest.ts';
import { createTemplateLoader, type LoadOptions } from '../source/load.ts';
import { isFragmentPath, type DesiredState, type Problem } from '../model/template.ts';
import type { ClientSettings } from '../settings/client.ts';

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
