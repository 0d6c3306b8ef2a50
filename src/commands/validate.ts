import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Options } from './options.ts';
import { createTemplateLoader } from '../desired/load.ts';
import { formatProblem } from '../desired/problem.ts';
import type { DesiredState, Problem } from '../model/template.ts';
import { asJson } from '../report/json-text.ts';
import { cleanTexts, scrubber } from '../secrets.ts';
import { readSettings } from '../settings.ts';

type ClientProblem = Problem & { readonly client: string };

/** Checks the template files; needs no network and no tokens. */
export const validate = async (options: Options): Promise<number> => {
  const settings = readSettings({ flags: options, needs: { baseUrl: false, tokens: false } });
  const states = await Promise.all(
    settings.clients.map(async (client) => ({
      client: client.name,
      state: await createTemplateLoader().load({
        paths: client.templates,
        defaults: client,
        variables: {
          override: client.vars.override,
          defaults: { ...client.vars.config, ...client.vars.client },
        },
        strict: options['strict'] === true,
        allowEmpty: options['allowEmpty'] === true,
      }),
    })),
  );
  const found = states.flatMap(({ client, state }) =>
    state.problems.map((problem) => ({ ...problem, client })),
  );
  // A message quotes the file, and whoever wrote the settings may have named one that holds a token.
  const problems = cleanTexts(found, scrubber(settings.allSecrets()));
  const format = forms[String(options['format'])] ?? asText;
  process.stdout.write(
    format(
      problems,
      states.map(({ state }) => state),
    ),
  );
  return problems.some(({ severity }) => severity === 'error') ? 1 : 0;
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
