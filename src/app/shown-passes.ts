import { changeText, outcomeWords } from '../report/row.ts';
import type { Io } from '../io.ts';
import type { Change, PassResult } from '../result.ts';
import type { AppContext } from './app-context.ts';
import type { PassRequest } from './pass-request.ts';
import { runPasses } from './passes.ts';
import { showProgress } from './progress.ts';

/** A pass over each client, whose progress is shown on stderr. */
export const passClients = async (
  io: Pick<Io, 'stderr'>,
  context: Pick<AppContext, 'clients' | 'redact' | 'clock'>,
  how: Pick<PassRequest, 'dryRun' | 'lockTimeout'> & Partial<PassRequest>,
  templates: readonly string[],
): Promise<PassResult[]> => {
  const progress = showProgress(io, how.dryRun || how.isRehearsal ? 'comparing' : 'applying');
  const of = (client: string): string => (context.clients.length > 1 ? `${client}: ` : '');
  try {
    return await runPasses(context, how, templates, {
      onChange: (client, change) => progress.print(`${of(client)}${changeLine(change)}`),
      onWait: (client, holder) => progress.status(`${of(client)}waiting for another pass: ${holder}`),
      onPause: (client, milliseconds, why) => {
        if (milliseconds >= minShownWait)
          progress.status(`${of(client)}waiting ${seconds(milliseconds)}: ${why}`);
      },
    });
  } finally {
    progress.close();
  }
};

/** Milliseconds. Shorter waits are not shown. */
const minShownWait = 1_000;

const seconds = (milliseconds: number): string => `${Math.ceil(milliseconds / 1_000)} s`;

const changeLine = ({ template, action, before, after, outcome, error }: Change): string =>
  `${outcomeWords[outcome]}: ${template}: ${action} ${changeText(before, after)}${error === null ? '' : ` (${error})`}`;
