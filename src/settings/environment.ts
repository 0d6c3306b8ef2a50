import { nearest } from '../lib/nearest.ts';
import type { Problems } from './problems.ts';
import { clientSecrets, everyRow } from './table.ts';

export const configVariable = 'DNS_SYNC_CONFIG';

/** The variables that many programs obey. */
export const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY'];

/** Without empty variables: Compose files pass missing values as empty ones. */
export const withoutEmpty = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));

/** Variables as the program uses them; what is wrong with their names, or with quotes around a value, is a problem. */
export const checkedVariables = (env: NodeJS.ProcessEnv, problems: Problems): NodeJS.ProcessEnv => {
  const own = Object.values(everyRow).flatMap(({ variables }) => variables);
  const fixed = { ...env };
  for (const name of [...own, ...proxyVariables, 'NO_PROXY', 'no_proxy', 'XDG_STATE_HOME']) {
    if (!standsInQuotes(env[name])) continue;
    problems.add(`${name}: ${quotesAdvice}`);
    fixed[name] = env[name]?.slice(1, -1);
  }
  // The settings file may take tokens from variables of any name; all else would stay at its default.
  const ofTokens = Object.values(clientSecrets).flatMap(({ variables }) => variables);
  const likely = [configVariable, ...own.filter((name) => !ofTokens.includes(name))];
  for (const name of Object.keys(env)) {
    if (!name.startsWith('DNS_SYNC_') || [...likely, ...ofTokens].includes(name)) continue;
    const meant = nearest(name, likely);
    if (meant !== null) problems.add(`${name}: unknown variable; did you mean ${meant}?`);
  }
  return fixed;
};

export const standsInQuotes = (text = ''): boolean => /^(["']).*\1$/s.test(text);

/** Docker and others take the lines of an `--env-file` as they are. */
export const quotesAdvice =
  'the quotes around the value are a part of it, as they are with --env-file of docker: remove them';
