import { existsSync } from 'node:fs';
import path from 'node:path';
import { isBelow } from '../lib/is-below.ts';
import type { DesiredState } from '../model/template.ts';
import { redactTexts, redactor } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import type { ClientProblem } from '../settings/problems.ts';
import { loadTemplates, refuseUnused, type LoadHow } from './load-templates.ts';

/** Checks the template files, or only these, whose paths start from `cwd`. The problems are without secrets. */
export const validateClients = async (
  settings: Settings,
  files: readonly string[],
  { cwd, ...how }: Omit<LoadHow, 'paths'> & { readonly cwd: string },
): Promise<{ readonly problems: readonly ClientProblem[]; readonly states: readonly DesiredState[] }> => {
  const states = await Promise.all(
    settings.clients.map(async (client) => {
      const state = await loadTemplates(client, { ...how, paths: pathsFor(settings, files, cwd) });
      return { client: client.name, state: files.length === 0 ? state : partOf(state, files, cwd) };
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
const partOf = (state: DesiredState, files: readonly string[], cwd: string): DesiredState => {
  const paths = new Set(files.map((file) => path.resolve(cwd, file)));
  const problems = state.problems.filter(({ file }) => file !== null && paths.has(path.resolve(cwd, file)));
  return { ...state, problems, files: files.length };
};
