import { formatProblem } from '../desired/problem.ts';
import { problemsOfTemplates, matchTemplates, unknownNames } from './match-templates.ts';
import { ArgumentError, LockedError } from '../errors.ts';
import { assembleReport } from '../report/assemble.ts';
import type { Report } from '../report/report.ts';
import type { Change, PassResult } from '../result.ts';
import type { Client } from './client.ts';
import type { PassRequest } from './pass-request.ts';
import { PlanChangedError, serviceOf } from './plan-file.ts';
import { refuseUnused } from './load-templates.ts';
import { newRun, type AppContext } from './app-context.ts';
import { withAnswers } from '../report/with-answers.ts';

/** The report over these passes, which also names the clients that are left out. */
export const reportOn = (
  passes: readonly PassResult[],
  { redact, settings, clients }: Pick<AppContext, 'redact' | 'settings' | 'clients'>,
): Report => ({
  ...assembleReport(redact(passes), redact(settings.leftOut)),
  service: serviceOf(clients),
});

/** What passes tell while they run; values are without secrets. */
export interface PassEvents {
  readonly onChange: (client: string, change: Change) => void;
  readonly onWait: (client: string, holder: string) => void;
  readonly onPause: (client: string, milliseconds: number, why: string) => void;
}

/** A pass over each client, in parallel. */
export const runPasses = async (
  { clients, redact, clock }: Pick<AppContext, 'clients' | 'redact' | 'clock'>,
  how: Pick<PassRequest, 'dryRun' | 'lockTimeout'> & Partial<PassRequest>,
  templates: readonly string[],
  events: PassEvents,
): Promise<PassResult[]> => {
  const run = newRun();
  const passes = (await clientsOf(clients, templates)).map(async (client) => {
    const startedAt = clock.now();
    const { name } = client.settings;
    const request: PassRequest = {
      run,
      trigger: 'command',
      templates,
      signal: new AbortController().signal,
      onChange: (change) => events.onChange(name, redact(change)),
      onWait: (holder) => events.onWait(name, redact(holder)),
      onPause: (milliseconds, why) => events.onPause(name, milliseconds, redact(why)),
      ...how,
    };
    return client
      .pass(request)
      .catch((error: unknown) =>
        notStarted(error, client, request, { startedAt, durationMs: clock.now() - startedAt }),
      );
  });
  // If one client fails, the writes of the others still complete.
  await Promise.allSettled(passes);
  return Promise.all(passes);
};

/** Those whose files describe any of the templates: no other is waited for, or fails what it has no part in. */
const clientsOf = async (
  clients: readonly Client[],
  templates: readonly string[],
): Promise<readonly Client[]> => {
  if (templates.length === 0 || clients.length === 1) return clients;
  const states = await Promise.all(clients.map((client) => client.load()));
  return clients.filter((_, index) => {
    const { templates: described, unusable } = states[index]!;
    return [...described, ...unusable].some(({ template }) => templates.includes(template ?? ''));
  });
};

/**
 * If another process holds the lock, or the plan has changed, the client is in the report as failed, with the
 * reason.
 */
const notStarted = async (
  error: unknown,
  client: Client,
  { run, trigger, templates }: PassRequest,
  { startedAt, durationMs }: { readonly startedAt: number; readonly durationMs: number },
): Promise<PassResult> => {
  if (!(error instanceof LockedError || error instanceof PlanChangedError)) throw error;
  const desired = await client.load();
  const { name } = client.settings;
  return {
    client: name,
    run,
    trigger,
    startedAt: new Date(startedAt).toISOString(),
    durationMs,
    dryRun: false,
    holdReason: error.message,
    retryAfter: null,
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
    problems: problemsOfTemplates(desired, templates).map((problem) => ({ ...problem, client: name })),
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
  const states = await Promise.all(clients.map((client) => client.load()));
  refuseUnused(
    clients.map(({ settings }) => settings),
    states,
  );
  if (patterns.length === 0) return [];
  const { found, unknown, known } = await matchTemplates(patterns, clients);
  if (unknown.length === 0) return found;
  const errors = states.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error'));
  throw new ArgumentError(
    [
      `no template file describes ${unknownNames(unknown, known)}`,
      ...(unknown.some((name) => /\.ya?ml$/.test(name)) ? ['give the name of a template, not its file'] : []),
      ...errors.map(formatProblem),
    ].join('\n'),
  );
};

/** Asks the name servers of the subdomains and adds their answers to the passes. */
export const addAnswers = async (
  clients: readonly Client[],
  passes: readonly PassResult[],
  templates: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<PassResult[]> => {
  return Promise.all(
    passes.map(async (pass) => {
      const client = clients.find(({ settings }) => settings.name === pass.client)!;
      const request = { templates, isCommand: true, signal, previous: new Map() };
      return withAnswers(pass, await client.askNameServers(request));
    }),
  );
};
