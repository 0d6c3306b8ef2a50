import { messageOf } from '../errors.ts';
import { assembleReport } from '../report/assemble.ts';
import { worstFirst } from '../report/worst-first.ts';
import type { PassResult, TemplateResult } from '../result.ts';
import { cut, excerptOf, leftOut, withoutApplied } from '../status-page/excerpt.ts';
import type { ClientSummary, PageFacts, TemplateDetails, TemplateSummary } from '../status-page/facts.ts';
import { type PageQuery, templateAddress } from '../status-page/query.ts';
import { recordStates } from '../status-page/record-states.ts';
import type { DaemonContext } from './context.ts';
import type { ClientSight, Fleet } from './fleet.ts';
import type { HistoryQuery } from './history-query.ts';
import type { Journal } from './journal.ts';
import type { Updates } from './updates.ts';

/** What pages are made of. */
export interface PageSources extends Pick<DaemonContext, 'clean' | 'secrets'> {
  readonly fleet: Fleet;
  readonly journal: Journal;
  readonly updates: Updates;
}

export const pageFacts = async (query: PageQuery, sources: PageSources): Promise<PageFacts> => {
  const { fleet, journal, clean } = sources;
  const frame = frameOf(sources);
  const isShown = ({ client }: ClientSight): boolean =>
    query.client === null || client.settings.name === query.client;
  const report = assembleReport(fleet.clients.filter(isShown).flatMap(shownResult));
  return {
    ...frame,
    query,
    // What is shown has less to clean; but nobody is to find out by a text what is not shown.
    newest: query.text === '' ? clean(excerptOf(report, query)) : excerptOf(clean(report), query),
    ...clean({
      clients: fleet.clients.map((client) => clientFacts(client, journal)),
      day: journal.day(frame.now),
      passes: journal.recent,
      writes: await newestWrites(fleet, lastWrites),
    }),
  };
};

export const templateFacts = async (
  name: string,
  client: string | null,
  sources: PageSources,
): Promise<TemplateSummary> => {
  const { fleet, journal, clean } = sources;
  const found = fleet.clients.filter((one) => client === null || one.client.settings.name === client);
  const query = { ...lastWrites, templates: [name] };
  const writes = await newestWrites(fleet, query);
  return {
    ...frameOf(sources),
    ...clean({
      name,
      hasSeveralClients: fleet.clients.length > 1,
      clients: found.map((one) => clientFacts(one, journal)),
      templates: found.flatMap((one) => detailsOf(name, one)),
      writes:
        typeof writes === 'string'
          ? writes
          : writes.filter((one) => client === null || one.client === client),
    }),
  };
};

const detailsOf = (name: string, sight: ClientSight): TemplateDetails[] => {
  const described = sight.templates.described(name);
  const templates = worstFirst(shownResult(sight).flatMap((result) => result.templates));
  return templates
    .filter(({ template }) => template === name)
    .map((found) => {
      const whole = withoutApplied(found);
      const template = cut(whole, maxRows);
      const desired = described.find(({ id, source }) => id === found.id || source.file === found.file);
      const records = desired === undefined ? [] : recordStates(desired.records, whole);
      return {
        template,
        href: templateAddress(name, found.client),
        more: leftOut(template, whole),
        records: records.slice(0, maxRows),
        moreRecords: Math.max(0, records.length - maxRows),
      };
    });
};

/** Of differences, and of records. */
const maxRows = 1_000;

const frameOf = ({ fleet, updates }: PageSources): Pick<PageFacts, 'version' | 'now' | 'timeZone'> => {
  const zones = new Set(fleet.clients.map(({ client }) => client.settings.timezone));
  const [zone] = zones;
  return {
    version: updates.version,
    now: Date.now(),
    timeZone: zones.size === 1 && zone !== undefined ? zone : 'UTC',
  };
};

/** What could not be read is shown as it was when it last could, and why it could not be is told once for all. */
const shownResult = ({ newest }: ClientSight): PassResult[] =>
  newest === null ? [] : [{ ...newest, templates: newest.templates.flatMap(asLastKnown) }];

const asLastKnown = (template: TemplateResult): readonly TemplateResult[] => {
  const { asOf, differences, subdomains } = template;
  if (asOf === undefined) return [template];
  if (asOf === null) return [];
  const differs = differences.length > 0 || subdomains.some(({ status }) => status === 'drifted');
  return [{ ...template, status: differs ? 'drifted' : 'in-sync', message: null }];
};

const troubleOf = (why: string, newest: PassResult | null): ClientSummary['trouble'] => {
  const times = (newest?.templates ?? []).flatMap(({ asOf }) => (asOf === undefined ? [] : [asOf]));
  const known = times.filter((time) => time !== null).sort();
  const knownAt = known[0] ?? (times.length > 0 ? null : newest?.startedAt);
  return {
    why,
    knownAt: typeof knownAt === 'string' ? Date.parse(knownAt) : null,
    unknown: times.length - known.length,
  };
};

const clientFacts = ({ state, newest }: ClientSight, journal: Journal): ClientSummary => {
  const { client, health, why, hindrance, running, waiting, failures, pausedUntil, nextScheduled } = state;
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
    trouble: hindrance === null ? null : troubleOf(hindrance, newest),
  };
};

/** A page stands without them. */
const newestWrites = async (fleet: Fleet, query: HistoryQuery): Promise<PageFacts['writes']> => {
  try {
    return (await fleet.history(query)).entries.toReversed();
  } catch (error) {
    return messageOf(error);
  }
};

const lastWrites: HistoryQuery = { templates: [], since: 0, outcome: null, limit: 50, before: null };
