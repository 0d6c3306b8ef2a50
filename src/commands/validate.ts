import path from 'node:path';
import { escapeControl, asJson } from '../lib/escape-control.ts';
import { isBelow } from '../lib/is-below.ts';
import { plural } from '../lib/plural.ts';
import type { Options } from '../app/options.ts';
import { saidOn } from '../app/warnings.ts';
import { formatProblem } from '../desired/problem.ts';
import type { Io } from '../io.ts';
import type { DesiredState, Problem } from '../model/template.ts';
import { readSettings } from '../settings.ts';
import { whileShown } from '../app/progress.ts';
import { validateClients } from '../app/validate-clients.ts';
import type { ClientProblem } from '../settings/client-files.ts';

/** Checks the template files, or only these; needs no network and no tokens. */
export const validate = async (files: readonly string[], options: Options, io: Io): Promise<number> => {
  const needs = { baseUrl: false, tokens: false };
  const settings = readSettings({
    flags: options,
    needs,
    mayLeaveOut: true,
    env: io.env,
    cwd: io.cwd,
    say: saidOn(io),
  });
  const how = {
    strict: options['strict'] === true,
    allowEmpty: options['allowEmpty'] === true,
    cwd: io.cwd,
  };
  const { problems, states } = await whileShown(io, 'reading template files', () =>
    validateClients(settings, files, how),
  );
  const format = forms[String(options['format'])] ?? asText;
  io.stdout.write(format(problems, states, io));
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
};

type Form = (
  problems: readonly ClientProblem[],
  states: readonly DesiredState[],
  io: Pick<Io, 'cwd' | 'env'>,
) => string;

const asText: Form = (problems, states) => {
  const files = states.reduce((sum, state) => sum + state.files, 0);
  const count = (severity: Problem['severity']): number =>
    problems.filter((problem) => problem.severity === severity).length;
  const summary = `${plural(files, 'template file')}: ${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`;
  return [...problems.map((problem) => formatProblem(problem)), summary, ''].join('\n');
};

/** Workflow commands: each becomes an annotation at its line, by its path in the repository. */
const asGithub: Form = (problems, _, io) =>
  problems
    .map(({ severity, check, message, file, line, column }) => {
      const place = [
        file === null ? null : `file=${property(inRepository(file, io))}`,
        line === null ? null : `line=${line}`,
        column === null ? null : `col=${column}`,
        `title=${property(check)}`,
      ].filter((part) => part !== null);
      return `::${severity} ${place.join(',')}::${data(`${message} [${check}]`)}\n`;
    })
    .join('');

/** A job may work in a directory below its checkout. */
const inRepository = (file: string, { cwd, env }: Pick<Io, 'cwd' | 'env'>): string => {
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  const absolute = path.resolve(cwd, file);
  return isBelow(workspace, absolute) ? path.relative(workspace, absolute) : file;
};

const data = (text: string): string => escapeControl(text).replaceAll('%', '%25');

const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

const forms: Readonly<Record<string, Form>> = {
  text: asText,
  json: (problems) => asJson({ problems }),
  github: asGithub,
};
