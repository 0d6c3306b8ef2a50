import type { ClientState } from '../daemon/client-state.ts';
import type { Journal } from '../daemon/journal.ts';
import type { ClientFacts, PageFacts } from '../daemon/page/facts.ts';
import { renderPage } from '../daemon/page/page.ts';
import type { Updates } from '../daemon/updates.ts';
import { messageOf } from '../errors.ts';
import { assembleReport } from '../report/assemble.ts';
import { excerptOf } from '../report/excerpt.ts';
import type { Fleet } from './fleet.ts';
import type { Session } from './session.ts';

export interface StatusPageDeps {
  readonly fleet: Fleet;
  readonly journal: Journal;
  readonly updates: Updates;
  readonly clean: Session['clean'];
}

/** Gives the status page as it is. However many ask for it at one time, it is made once. */
export const statusPage = (deps: StatusPageDeps): (() => Promise<string>) => {
  let made: { readonly version: string; readonly at: number; readonly page: Promise<string> } | null = null;
  return () => {
    const { version } = deps.updates;
    const now = Date.now();
    if (made === null || made.version !== version || Math.abs(now - made.at) > shortest) {
      made = { version, at: now, page: makePage(version, now, deps) };
    }
    return made.page;
  };
};

/** Milliseconds for which a page stays as good as new. */
const shortest = 1_000;

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
    return (await fleet.newestWrites(shownWrites)).toReversed();
  } catch (error) {
    return messageOf(error);
  }
};

const shownWrites = 50;
