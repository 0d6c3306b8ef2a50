import { serviceOf } from '../../app/plan-file.ts';
import { messageOf } from '../../errors.ts';
import { assembleReport } from '../../report/assemble.ts';
import { renderJson } from '../../report-schema.ts';
import type { Facts, Writes } from '../../status-page/facts.ts';
import { renderOverview } from '../../status-page/overview.ts';
import { excerptOf, reportOf, type Visit } from '../../status-page/query.ts';
import { renderTemplatePage, renderWrites } from '../../status-page/template-page.ts';
import type { ClientManager } from '../clients/client-manager.ts';
import type { DaemonContext } from '../context.ts';
import type { Day } from '../passes/day.ts';
import type { ChangeFeed } from './events.ts';

interface PageSources extends Pick<DaemonContext, 'redact' | 'secrets' | 'fleet'> {
  readonly manager: ClientManager;
  readonly day: Day;
  readonly changeFeed: ChangeFeed;
}

export type Pages = ReturnType<typeof statusPages>;

/** Each page is made once for all readers that may do the same, and again only after a change. */
export const statusPages = (sources: PageSources) => {
  const { manager, redact, secrets, changeFeed } = sources;
  // What was a secret stays one, so their number tells whether there are others.
  const shared = sharedTexts(() => `${changeFeed.version} ${secrets().length}`);
  const facts = factsOf(sources);
  /** Which page, what it is asked to show, and what its reader may do. */
  const nameOf = (visit: Visit): string => JSON.stringify(visit);
  return {
    /** The newest state of every client, as JSON. */
    report: (): Promise<string> =>
      shared('', () => {
        const problems = [...manager.problems, ...manager.uncompared];
        const service = serviceOf(manager.clients.map(({ client }) => client));
        return renderJson({ ...redact(assembleReport(manager.newest, problems)), service });
      }),
    overview: (visit: Visit): Promise<string> =>
      shared(nameOf(visit), () => {
        const { query } = visit;
        const report = reportOf(manager.newest, manager.problems, query.client);
        // A few rows are redacted sooner than all; but a search must not find what is to be redacted.
        const excerpt =
          query.text === '' ? redact(excerptOf(report, query)) : excerptOf(redact(report), query);
        return renderOverview({ ...facts(), ...visit }, excerpt);
      }),
    writes: (visit: Visit): Promise<string> =>
      shared(nameOf(visit), async () =>
        renderWrites({ ...facts(), ...visit }, redact(await newestWrites(manager, null, null))),
      ),
    /** The templates of this name, of one client or of all; null if there is none. */
    template: (name: string, client: string | null, visit: Visit): Promise<string> | null => {
      const found = manager.clients.filter((one) => client === null || one.name === client);
      const files = found.flatMap((one) =>
        one.known.described(name).map((desired) => ({ client: one.name, desired })),
      );
      const results = found.flatMap(({ known: { newest } }) => {
        const templates = newest?.templates.filter(({ template }) => template === name) ?? [];
        return newest === null ? [] : { ...newest, templates };
      });
      if (files.length === 0 && results.every(({ templates }) => templates.length === 0)) return null;
      return shared(nameOf(visit), async () => {
        const writes = await newestWrites(manager, name, client);
        return renderTemplatePage({ ...facts(), ...visit }, redact({ name, files, results, writes }));
      });
    },
  };
};

/** Texts by name, each made once for all who ask for it, until the version is another one. */
const sharedTexts = (version: () => string) => {
  let kept = new Map<string, Promise<string>>();
  let [of, until] = ['', 0];
  return (name: string, make: () => string | Promise<string>): Promise<string> => {
    if (of !== version() || performance.now() > until || kept.size > maxKept) {
      kept = new Map();
      [of, until] = [version(), performance.now() + maxAge];
    }
    const made = kept.get(name) ?? (async () => make())();
    // One that failed is made again.
    made.catch(() => kept.delete(name));
    kept.set(name, made);
    return made;
  };
};

const maxKept = 16;

/** Milliseconds. A page says of when it is, so it gets old without a change. */
const maxAge = 30_000;

/** What the daemon knows, without secrets. */
const factsOf =
  ({ manager, day, changeFeed, fleet, redact }: PageSources) =>
  (): Facts => {
    const now = Date.now();
    return {
      version: changeFeed.version,
      now,
      clients: manager.clients.map(({ state, known: { newest } }) => {
        const times = newest?.templates.flatMap(({ asOf }) => (asOf ? Date.parse(asOf) : [])) ?? [];
        return {
          ...redact(state),
          backoffUntil: state.backoffUntil?.getTime() ?? null,
          nextScheduled: state.nextScheduled?.getTime() ?? null,
          knownAt: times.length === 0 ? null : Math.min(...times),
        };
      }),
      day: day.slots(now),
      fleet: redact(fleet.summary),
    };
  };

/** A page is shown without them if they cannot be read. */
const newestWrites = async (
  manager: ClientManager,
  template: string | null,
  client: string | null,
): Promise<Writes> => {
  try {
    const templates = template === null ? [] : [template];
    const found = await manager.history({ templates, since: 0, outcome: null, limit: 50 });
    return found.filter((one) => client === null || one.client === client).toReversed();
  } catch (error) {
    return messageOf(error);
  }
};
