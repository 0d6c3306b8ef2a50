import { messageOf } from '../../errors.ts';
import { isFragmentPath } from '../../model/template.ts';
import { pastesFor } from '../../import/paste.ts';
import { assembleReport } from '../../report/assemble.ts';
import { worstFirst } from '../../report/worst-first.ts';
import { withoutApplied, type PassResult, type TemplateResult } from '../../result.ts';
import { cut, excerptOf } from '../../status-page/excerpt.ts';
import {
  type ClientSummary,
  type PageFacts,
  type PageFrame,
  type Reader,
  type ShownRecord,
  type TemplateDetails,
  type TemplateSummary,
  type Writes,
  recordStates,
  serviceRecords,
} from '../../status-page/facts.ts';
import { addressOf, everything, type PageQuery, templateAddress } from '../../status-page/query.ts';
import type { DaemonContext } from '../context.ts';
import type { ManagedClient, ClientManager } from '../clients/client-manager.ts';
import type { PassHistory } from '../passes/pass-history.ts';
import type { ChangeFeed } from '../passes/change-feed.ts';

/** What pages are made from. */
export interface PageSources extends Pick<DaemonContext, 'redact' | 'fleet'> {
  readonly manager: ClientManager;
  readonly passHistory: PassHistory;
  readonly changeFeed: ChangeFeed;
}

export const pageFacts = (query: PageQuery, reader: Reader, sources: PageSources): PageFacts => {
  const { manager, passHistory, redact, fleet } = sources;
  const frame = frameOf(sources, { reader, query, root: './', page: addressOf(query) });
  const isShown = ({ client }: ManagedClient): boolean =>
    query.client === null || client.settings.name === query.client;
  const problems = manager.problems.filter(({ client }) => query.client === null || client === query.client);
  const report = assembleReport(manager.clients.filter(isShown).flatMap(shownResult), problems);
  return {
    ...frame,
    query,
    // Redacting the excerpt is cheaper. But a search must not find redacted text, so then the whole report is
    // redacted first.
    newest: query.text === '' ? redact(excerptOf(report, query)) : excerptOf(redact(report), query),
    ...redact({
      fleet: fleet.summary,
      clients: manager.clients.map((client) => clientFacts(client, passHistory)),
      day: passHistory.day(frame.now),
      passes: passHistory.recent,
    }),
  };
};

/** The last writes of all templates. */
export const writesFacts = async (reader: Reader, sources: PageSources) => ({
  ...frameOf(sources, { reader, query: everything, root: './', page: 'writes' }),
  hasSeveralClients: sources.manager.clients.length > 1,
  writes: sources.redact(await newestWrites(sources.manager, [])),
});

/** The templates of this name, of one client or of all; null if there is none. */
export const templateFacts = (
  name: string,
  query: PageQuery,
  reader: Reader,
  sources: PageSources,
): (() => Promise<TemplateSummary>) | null => {
  const { manager, passHistory, redact } = sources;
  const { client } = query;
  const found = manager.clients.filter((one) => client === null || one.client.settings.name === client);
  const isThere = found.some(
    ({ newest, templates }) =>
      templates.described(name).length > 0 || newest?.templates.some(({ template }) => template === name),
  );
  if (!isThere) return null;
  return async () => {
    const root = client === null ? '../' : '../../../';
    const writes = await newestWrites(manager, [name]);
    const templates = found.flatMap((one) => detailsOf(name, one));
    return {
      ...frameOf(sources, { reader, query, root, page: templateAddress(name, client) }),
      ...redact({
        name,
        hasSeveralClients: manager.clients.length > 1,
        clients: found.map((one) => clientFacts(one, passHistory)),
        templates,
        problems: found
          .flatMap((one) => shownResult(one).flatMap(({ problems }) => problems))
          .filter(({ file }) => file !== null && templates.some((one) => concerns(file, one.template))),
        commits: found.flatMap(({ newest }) => newest?.commits ?? []),
        writes:
          typeof writes === 'string'
            ? writes
            : writes.filter((one) => client === null || one.client === client),
      }),
    };
  };
};

/** The fragments of an invalid file are not known here: any of them may have the error. */
const concerns = (file: string, { file: own, status, inSync, differences }: TemplateResult): boolean =>
  file === own || (status === 'held' && inSync + differences.length === 0 && isFragmentPath(file));

const detailsOf = (name: string, view: ManagedClient): TemplateDetails[] => {
  const described = view.templates.described(name);
  const templates = worstFirst(shownResult(view).flatMap((result) => result.templates));
  return templates
    .filter(({ template }) => template === name)
    .map((found) => {
      const whole = withoutApplied(found);
      const shown = cut(whole, maxRows, true);
      const desired = described.find(({ id, source }) => id === found.id || source.file === found.file);
      const records =
        desired === undefined ? uncompared(found, view.newest) : recordStates(desired.records, whole);
      const pastes =
        desired === undefined ? [] : pastesFor(desired, shown.template.differences.slice(0, maxPastes));
      const shortPastes = pastes.filter(({ yaml }) => (yaml?.length ?? 0) <= maxPaste);
      return {
        ...shown,
        dryRun: view.newest?.dryRun === true,
        records: records.slice(0, maxRows),
        recordsOf: desired === undefined ? 'service' : 'file',
        moreRecords: Math.max(0, records.length - maxRows),
        pastes: shortPastes,
        morePastes: pastes.length - shortPastes.length + Math.max(0, whole.differences.length - maxPastes),
      };
    });
};

/** What the service has for a template whose file has errors; nothing if several have its name. */
const uncompared = ({ template, id }: TemplateResult, newest: PassResult | null): readonly ShownRecord[] => {
  const found = (newest?.withInvalidFile ?? []).filter((one) =>
    id === null ? one.name === template : one.id === id,
  );
  return found.length === 1 ? serviceRecords(found[0]!.records) : [];
};

/** Of differences, and of records. */
const maxRows = 1_000;

/** Differences, and characters of one entry. */
const maxPastes = 100;
const maxPaste = 10_000;

const frameOf = (
  { manager, changeFeed }: PageSources,
  { query, ...place }: Pick<PageFrame, 'reader' | 'root' | 'page'> & { readonly query: PageQuery },
): PageFrame => {
  const zones = new Set(manager.clients.map(({ client }) => client.settings.timezone));
  const [zone] = zones;
  return {
    ...place,
    notice: query.notice,
    version: changeFeed.version,
    now: Date.now(),
    timeZone: zones.size === 1 && zone !== undefined ? zone : 'UTC',
  };
};

/** What could not be read keeps its last known state; the reason is shown once, at the top. */
const shownResult = ({ newest }: ManagedClient): PassResult[] =>
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

const clientFacts = ({ state, newest }: ManagedClient, passHistory: PassHistory): ClientSummary => {
  const { client, health, why, lastError, running, waiting, failures, backoffUntil, nextScheduled } = state;
  return {
    client,
    health,
    why,
    running,
    waiting,
    failures,
    backoffUntil: backoffUntil?.getTime() ?? null,
    nextScheduled: nextScheduled?.getTime() ?? null,
    lastPass: passHistory.lastOf(client),
    trouble: lastError === null ? null : troubleOf(lastError, newest),
  };
};

/** A page is shown without them if they cannot be read. */
const newestWrites = async (manager: ClientManager, templates: readonly string[]): Promise<Writes> => {
  try {
    return (await manager.history({ templates, since: 0, outcome: null, limit: 50 })).toReversed();
  } catch (error) {
    return messageOf(error);
  }
};
