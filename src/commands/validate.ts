import path from 'node:path';
import { readOffline } from '../app/options.ts';
import { whileShown } from '../app/progress.ts';
import { validateClients } from '../app/template-files.ts';
import { formatProblem } from '../desired/problem.ts';
import type { Io } from '../io.ts';
import { asJson, escapeControl } from '../lib/escape-control.ts';
import { isBelow } from '../lib/is-below.ts';
import { plural } from '../lib/plural.ts';
import type { Problem } from '../model/template.ts';
import type { Run } from './table.ts';

/** Checks the template files, or only these; needs no network and no tokens. */
export const validate: Run = async (files, options, io) => {
  const settings = readOffline(options, io, { mayLeaveOut: true });
  const how = {
    strict: options['strict'] === true,
    allowEmpty: options['allowEmpty'] === true,
    cwd: io.cwd,
  };
  const { problems, states } = await whileShown(io, 'reading template files', () =>
    validateClients(settings, files, how),
  );
  const errors = problems.filter(({ severity }) => severity === 'error');
  const count = states.reduce((sum, state) => sum + state.files, 0);
  const counts = `${plural(errors.length, 'error')}, ${plural(problems.length - errors.length, 'warning')}`;
  const lines = [...problems.map(formatProblem), `${plural(count, 'template file')}: ${counts}`, ''];
  if (options['format'] === 'json') io.stdout.write(asJson({ problems }));
  else if (options['format'] === 'github')
    io.stdout.write(problems.map((one) => annotation(one, io)).join(''));
  else io.stdout.write(lines.join('\n'));
  return errors.length > 0 ? 1 : 0;
};

/** A workflow command, which becomes an annotation at its line, by its path in the repository. */
const annotation = ({ severity, check, message, file, line, column }: Problem, { cwd, env }: Io): string => {
  // A job may work in a directory below its checkout.
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  const absolute = path.resolve(cwd, file ?? '');
  const inRepository = isBelow(workspace, absolute) ? path.relative(workspace, absolute) : file;
  const properties = Object.entries({ file: file && inRepository, line, col: column, title: check })
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key}=${data(String(value)).replaceAll(':', '%3A').replaceAll(',', '%2C')}`);
  return `::${severity} ${properties.join(',')}::${data(`${message} [${check}]`)}\n`;
};

const data = (text: string): string => escapeControl(text).replaceAll('%', '%25');
