import { existsSync } from 'node:fs';
import path from 'node:path';
import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Options } from '../app/options.ts';
import { formatProblem } from '../desired/problem.ts';
import type { DesiredState, Problem } from '../model/template.ts';
import { asJson } from '../report/json-text.ts';
import { redactTexts, redactor } from '../secrets.ts';
import { readSettings, type Settings } from '../settings.ts';
import type { ClientSettings } from '../settings/client.ts';
import { isBelow } from './import-template.ts';
import { loadTemplates } from '../app/load-templates.ts';
import { whileShown } from '../app/progress.ts';

type ClientProblem = Problem & { readonly client: string };

/** Checks the template files, or only these; needs no network and no tokens. */
export const validate = async (files: readonly string[], options: Options): Promise<number> => {
  const needs = { baseUrl: false, tokens: false };
  const settings = readSettings({ flags: options, needs, mayLeaveOut: true });
  const how = { strict: options['strict'] === true, allowEmpty: options['allowEmpty'] === true };
  const states = await whileShown('reading template files', () =>
    Promise.all(
      settings.clients.map(async (client) => {
        const state = await loadTemplates(client, { ...how, paths: pathsFor(settings, files) });
        return { client: client.name, state: files.length === 0 ? state : partOf(state, files) };
      }),
    ),
  );
  const found = [
    ...settings.leftOut,
    ...states.flatMap(({ client, state }) => state.problems.map((problem) => ({ ...problem, client }))),
  ];
  // Messages quote the file, and the settings may have named a file that contains a token.
  const problems = redactTexts(found, redactor(settings.allSecrets()));
  const format = forms[String(options['format'])] ?? asText;
  process.stdout.write(
    format(
      problems,
      states.map(({ state }) => state),
    ),
  );
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
};

/** A file outside of all clients' directories is checked for each client; so is one that does not exist. */
const pathsFor = ({ clients }: Settings, files: readonly string[]): readonly string[] => {
  const isIn = ({ templates }: ClientSettings, file: string): boolean =>
    templates.some((directory) => isBelow(path.resolve(directory), path.resolve(file)));
  const isRead = (file: string): boolean => existsSync(file) && clients.some((other) => isIn(other, file));
  return files.filter((file) => !isRead(file));
};

/** The problems of these files. The others are read since these may conflict with them. */
const partOf = (state: DesiredState, files: readonly string[]): DesiredState => {
  const paths = new Set(files.map((file) => path.resolve(file)));
  const problems = state.problems.filter(({ file }) => file !== null && paths.has(path.resolve(file)));
  return { ...state, problems, files: files.length };
};

type Form = (problems: readonly ClientProblem[], states: readonly DesiredState[]) => string;

const asText: Form = (problems, states) => {
  const files = states.reduce((sum, state) => sum + state.files, 0);
  const count = (severity: Problem['severity']): number =>
    problems.filter((problem) => problem.severity === severity).length;
  const summary = `${plural(files, 'template file')}: ${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`;
  return [...problems.map((problem) => formatProblem(problem)), summary, ''].join('\n');
};

/** Workflow commands: each becomes an annotation at its line. */
const asGithub: Form = (problems) =>
  problems
    .map(({ severity, check, message, file, line, column }) => {
      const place = [
        file === null ? null : `file=${property(file)}`,
        line === null ? null : `line=${line}`,
        column === null ? null : `col=${column}`,
        `title=${property(check)}`,
      ].filter((part) => part !== null);
      return `::${severity} ${place.join(',')}::${data(`${message} [${check}]`)}\n`;
    })
    .join('');

const data = (text: string): string => escapeControl(text).replaceAll('%', '%25');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const forms: Readonly<Record<string, Form>> = {
  text: asText,
  json: (problems) => asJson({ problems }),
  github: asGithub,
};
