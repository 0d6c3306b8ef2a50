import { randomUUID } from 'node:crypto';
import { LockedError } from '../errors.ts';
import type { Io } from '../io.ts';
import { assembleReport } from '../report/assemble.ts';
import { changeText, wordOf } from '../report/row.ts';
import { withAnswers } from '../report/answers.ts';
import type { PassEvent, PassResult, Report } from '../result.ts';
import type { AppContext } from './app-context.ts';
import type { Client, PassRequest } from './client.ts';
import { describedIn } from './template-files.ts';
import { PlanChangedError, serviceOf } from './plan-file.ts';
import { showProgress } from './progress.ts';

/** The report over these passes, which also names the clients that are left out. */
export const reportOn = (
  passes: readonly PassResult[],
  { redact, settings, clients }: Pick<AppContext, 'redact' | 'settings' | 'clients'>,
): Report => ({
  ...assembleReport(redact(passes), redact(settings.leftOut)),
  service: serviceOf(clients),
});

/** How a command's passes are made. */
export type PassesRequest = Partial<PassRequest> & { readonly dryRun: boolean };

type PassesContext = Pick<AppContext, 'clients' | 'redact' | 'clock'>;

/** A pass over each client, in parallel. */
export const runPasses = async (
  { clients, redact, clock }: PassesContext,
  how: PassesRequest,
  templates: readonly string[],
  tell: (event: PassEvent) => void,
): Promise<PassResult[]> => {
  const run = randomUUID();
  const passes = (await clientsWith(templates, clients)).map(async (client) => {
    const startedAt = clock.now();
    const { name } = client.settings;
    const request: PassRequest = {
      run,
      trigger: 'command',
      templates,
      signal: new AbortController().signal,
      onChange: (change) => tell({ event: 'change', client: name, ...redact(change) }),
      onWait: (holder) => tell({ event: 'waiting', client: name, holder: redact(holder) }),
      onPause: (milliseconds, why) => tell({ event: 'pause', client: name, milliseconds, why: redact(why) }),
      ...how,
    };
    return client.pass(request).catch((error: unknown): PassResult => {
      if (!(error instanceof LockedError || error instanceof PlanChangedError)) throw error;
      const { message } = error;
      return {
        client: name,
        run,
        trigger: 'command',
        startedAt: new Date(startedAt).toISOString(),
        durationMs: clock.now() - startedAt,
        dryRun: false,
        holdReason: message,
        retryAfter: null,
        isNotStarted: true,
        templates: [],
        problems: [{ ...noPass, client: name, message }],
      };
    });
  });
  // If one client fails, the writes of the others still complete.
  await Promise.allSettled(passes);
  return Promise.all(passes);
};

/** That a client could have no pass, as a problem. */
export const noPass = { severity: 'error', check: 'no-pass', file: null, line: null, column: null } as const;

/** Those whose files describe any of the templates: no other is waited for, or fails what it has no part in. */
const clientsWith = async (
  names: readonly string[],
  clients: readonly Client[],
): Promise<readonly Client[]> => {
  if (names.length === 0 || clients.length === 1) return clients;
  const states = await Promise.all(clients.map((client) => client.load()));
  const described = states.map(describedIn);
  return clients.filter((_, index) => described[index]!.some(({ template }) => names.includes(template)));
};

/** The same for a command, whose progress is shown on stderr. */
export const passClients = async (
  io: Pick<Io, 'stderr'>,
  context: PassesContext,
  how: PassesRequest,
  templates: readonly string[],
): Promise<PassResult[]> => {
  const progress = showProgress(io, how.dryRun || how.isRehearsal ? 'comparing' : 'applying');
  try {
    return await runPasses(context, how, templates, (one) => {
      const of = context.clients.length > 1 ? `${one.client}: ` : '';
      if (one.event === 'change') {
        const why = one.error === null ? '' : ` (${one.error})`;
        const change = `${one.template}: ${one.action} ${changeText(one.before, one.after)}${why}`;
        progress.print(`${of}${wordOf(one.outcome)}: ${change}`);
      } else if (one.event === 'waiting') progress.status(`${of}waiting for another pass: ${one.holder}`);
      else if (one.milliseconds >= minShownWait)
        progress.status(`${of}waiting ${Math.ceil(one.milliseconds / 1_000)} s: ${one.why}`);
    });
  } finally {
    progress.close();
  }
};

/** Milliseconds. Shorter waits are not shown. */
const minShownWait = 1_000;

/** Asks the name servers of the subdomains and adds their answers to the passes. */
export const addAnswers = (
  clients: readonly Client[],
  passes: readonly PassResult[],
  templates: readonly string[],
  signal: AbortSignal = new AbortController().signal,
): Promise<PassResult[]> =>
  Promise.all(
    passes.map(async (pass) => {
      const client = clients.find(({ settings }) => settings.name === pass.client)!;
      const request = { templates, isCommand: true, signal, previous: new Map() };
      return withAnswers(pass, await client.askNameServers(request));
    }),
  );
