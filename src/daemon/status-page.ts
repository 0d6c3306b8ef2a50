import { messageOf } from '../errors.ts';
import { assembleReport } from '../report/assemble.ts';
import { excerptOf } from '../report/excerpt.ts';
import type { ClientFacts, PageFacts } from '../status-page/facts.ts';
import { renderPage } from '../status-page/page.ts';
import type { ClientState } from './client-state.ts';
import type { DaemonContext } from './context.ts';
import type { Fleet } from './fleet.ts';
import type { HistoryQuery } from './history-query.ts';
import type { Journal } from './journal.ts';
import { sharedText } from './shared-text.ts';
import type { Updates } from './updates.ts';

export interface StatusPageDeps {
  readonly fleet: Fleet;
  readonly journal: Journal;
  readonly updates: Updates;
  readonly clean: DaemonContext['clean'];
}

/** The status page as it is. */
export const statusPage = (deps: StatusPageDeps): ReturnType<typeof sharedText> =>
  sharedText({
    key: () => [deps.updates.version],
    make: () => makePage(deps.updates.version, Date.now(), deps),
    longest: 1_000,
  });

const makePage = async (version: string, now: number, deps: StatusPageDeps): Promise<string> => {
  const { fleet, journal, clean } = deps;
  return renderPage(
    clean({
      version,
      now,
      newest: excerptOf(assembleReport(fleet.newest)),
      clients: fleet.states.map((state) => clientFacts(state, journal)),
      day: journal.day(now),
      passes: journal.recent,
      writes: await newestWrites(fleet),
    }),
  );
};

const clientFacts = (state: ClientState, journal: Journal): ClientFacts => {
  const { client, health, why, running, waiting, failures, pausedUntil, nextScheduled } = state;
  return {
    client,
    health,
    why,
    running,
    waiting,
    failures,
    pausedUntil: pausedUntil?.getTime() ?? null,
    nextScheduled: nextScheduled?.getTime() ?? null,
    lastPass: journal.lastOf(client),
  };
};

/** The page stands without them. */
const newestWrites = async (fleet: Fleet): Promise<PageFacts['writes']> => {
  try {
    return (await fleet.history(newest)).entries.toReversed();
  } catch (error) {
    return messageOf(error);
  }
};

const newest: HistoryQuery = { templates: [], since: 0, outcome: null, limit: 50, before: null };
