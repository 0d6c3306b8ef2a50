import type { Options } from './options.ts';
import { formatProblem } from '../desired/problem.ts';
import { problemsOf } from '../desired/problems-of.ts';
import { suggestion } from '../lib/nearest.ts';
import { LockedError, UserError } from '../errors.ts';
import { outcomeWords } from '../report/row.ts';
import { assembleReport } from '../report/assemble.ts';
import type { Report } from '../report/report.ts';
import type { Change, PassResult } from '../result.ts';
import type { Client } from './client.ts';
import type { PassRequest } from './pass-request.ts';
import { PlanChangedError } from './plan-file.ts';
import { matchTemplates } from './match-templates.ts';
import { showProgress, whileShown } from './progress.ts';
import { changeText } from '../report/record-text.ts';
import { newRun, type AppContext } from './app-context.ts';

/** The report over these passes, which also names the clients that are left out. */
export const reportOn = (
  passes: readonly PassResult[],
  { redact, settings }: Pick<AppContext, 'redact' | 'settings'>,
): Report => assembleReport(redact(passes), redact(settings.leftOut));

/** A dry run over each client. */
export const planClients = (
  context: Pick<AppContext, 'clients' | 'redact'>,
  templates: readonly string[],
  options: Options,
): Promise<PassResult[]> => passClients(context, { dryRun: true, lockTimeout: 0 }, templates, options);

/** A pass over each client, in parallel. */
export const passClients = async (
  { clients, redact }: Pick<AppContext, 'clients' | 'redact'>,
  how: Pick<PassRequest, 'dryRun' | 'lockTimeout'> & Partial<PassRequest>,
  templates: readonly string[],
  options: Options,
): Promise<PassResult[]> => {
  const progress = showProgress(how.dryRun || how.isRehearsal ? 'comparing' : 'applying');
  const run = newRun();
  const of = ({ settings }: Client): string => (clients.length > 1 ? `${settings.name}: ` : '');
  const passes = clients.map(async (client) => {
    const startedAt = new Date();
    const request: PassRequest = {
      run,
      trigger: 'command',
      templates,
      signal: new AbortController().signal,
      onChange: (change) => progress.print(`${of(client)}${changeLine(redact(change))}`),
      onWait: (holder) => progress.status(`${of(client)}waiting for another pass: ${holder}`),
      onPause: (milliseconds, why) => {
        if (milliseconds >= minShownWait)
          progress.status(redact(`${of(client)}waiting ${seconds(milliseconds)}: ${why}`));
      },
      ignoreSubdomains: options['ignoreSubdomains'] === true,
      ...how,
    };
    return client.pass(request).catch((error: unknown) => notStarted(error, client, request, startedAt));
  });
  try {
    // If one client fails, the writes of the others still complete.
    await Promise.allSettled(passes);
    return await Promise.all(passes);
  } finally {
    progress.close();
  }
};

/** Milliseconds. Shorter waits are not shown. */
const minShownWait = 1_000;

const seconds = (milliseconds: number): string => `${Math.ceil(milliseconds / 1_000)} s`;

const changeLine = ({ template, action, before, after, outcome, error }: Change): string =>
  `${outcomeWords[outcome]}: ${template}: ${action} ${changeText(before, after)}${error === null ? '' : ` (${error})`}`;

/**
 * If another process holds the lock, or the plan has changed, the client is in the report as failed, with the
 * reason.
 */
const notStarted = async (
  error: unknown,
  client: Client,
  { run, trigger, templates }: PassRequest,
  startedAt: Date,
): Promise<PassResult> => {
  if (!(error instanceof LockedError || error instanceof PlanChangedError)) throw error;
  const desired = await client.load();
  const { name } = client.settings;
  return {
    client: name,
    run,
    trigger,
    startedAt: startedAt.toISOString(),
    durationMs: Date.now() - startedAt.getTime(),
    dryRun: false,
    holdReason: error.message,
    retryAt: null,
    isNotStarted: true,
    templates: desired.templates
      .filter(({ template }) => templates.length === 0 || templates.includes(template))
      .map(({ template, id, source }) => ({
        client: name,
        template,
        id,
        file: source.file,
        revision: null,
        ...(error instanceof PlanChangedError
          ? error.verdictOn(name, template)
          : ({ status: 'failed', message: error.message } as const)),
        inSync: 0,
        parked: 0,
        ignored: 0,
        differences: [],
        subdomains: [],
      })),
    problems: problemsOf(desired, templates).map((problem) => ({ ...problem, client: name })),
  };
};

/**
 * The template names that match the patterns. A name that no file describes is probably misspelled, so
 * nothing is done. Or its file is invalid, so the errors of the files are shown too.
 */
export const resolveNames = async (
  clients: readonly Client[],
  patterns: readonly string[],
): Promise<readonly string[]> => {
  if (patterns.length === 0) return [];
  const { found, unknown, known } = await whileShown('reading template files', () =>
    matchTemplates(patterns, clients),
  );
  if (unknown.length === 0) return found;
  const states = await Promise.all(clients.map((client) => client.load()));
  const errors = states.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  throw new UserError(
    [
      `no template file describes ${unknown.map((name) => `${name}${suggestion(name, known)}`).join(', ')}`,
      ...(unknown.some((name) => /\.ya?ml$/.test(name)) ? ['give the name of a template, not its file'] : []),
      ...errors.map(formatProblem),
    ].join('\n'),
  );
};
