import { createHash } from 'node:crypto';
import { groupBy } from '../model/group.ts';
import type { Difference } from '../plan/difference.ts';
import { problemText, worstFirst } from '../report/view.ts';
import type { Commit, PassResult, TemplateResult } from '../result.ts';
import type { NotifyReceiver } from '../settings/receivers.ts';
import type { NotifiedChange, NotifiedState } from './schema.ts';

/** The result of one pass over one client. */
export interface EndedPass {
  readonly client: string;
  readonly run: string;
  /** ISO 8601. */
  readonly at: string;
  /** Null if there was no pass. */
  readonly result: PassResult | null;
  /** Why there was no pass. */
  readonly failure: string | null;
  /** Templates that no file describes any more. */
  readonly removed: readonly string[];
  /** Whether its result has all templates that anything describes: others that were told of went while nobody looked. */
  readonly hasAll: boolean;
  /** The shutdown cut the pass short: what is left undone has no meaning. */
  readonly isEnding: boolean;
}

/** What a receiver was told last about a template, or about a client as a whole. */
export interface Told {
  readonly state: NotifiedState;
  readonly keys: readonly string[];
  /** Since when something else is so, which has to last before it is told: ms since the epoch. */
  readonly since: number | null;
}

/** Of what a receiver has not heard of. */
export const nothingTold: Told = { state: 'in-sync', keys: [], since: null };

/** What a receiver is to be told after a pass that ended `now`; the same object as before if that is nothing. */
export const newsAfter = (
  told: Told,
  { keys: found, ...shown }: Health,
  { client, run, at, isEnding }: EndedPass,
  { on, after }: NotifyReceiver,
  now: number,
): { readonly told: Told; readonly change: NotifiedChange | null } => {
  const { counts } = shown;
  // A pass that was cut short says nothing of the state.
  const isCut = isEnding && shown.state !== 'unknown';
  const [state, keys] = isCut ? [told.state, told.keys] : [shown.state, found];
  const event = eventOf(told, state, keys) ?? (counts.mended > 0 && after === 0 ? 'mended' : null);
  // Differences that ended are forgotten, so that they are new if they return.
  const isSame = isCut || (state === told.state && keys.join() === told.keys.join() && told.since === null);
  const fresh = isSame ? told : { state, keys, since: null };
  if (event === null) return { told: fresh, change: null };
  const isSubscribed = on.some((one) => one === (event === 'mended' ? 'drift' : event));
  // Who was told of something else hears what became of it, but no more of that.
  const isSameState = state === told.state;
  if (!isSubscribed && (isSameState || told.state === 'in-sync'))
    return { told: isSameState ? fresh : told, change: null };
  // A clock that was set back would put it off for as long.
  const since = Math.min(told.since ?? now, now);
  if (event !== 'cleared' && now - since < after) return { told: { ...told, since }, change: null };
  return { told: fresh, change: { event, client, previous: told.state, run, at, ...shown, state } };
};

/** What the state says anew; null if it is the same for no new reason. */
const eventOf = (
  told: Told,
  state: NotifiedState,
  keys: readonly string[],
): NotifiedChange['event'] | null => {
  if (state === 'in-sync') return told.state === 'in-sync' ? null : 'cleared';
  if (state === told.state && keys.every((key) => told.keys.includes(key))) return null;
  return state === 'drifted' ? 'drift' : state;
};

/** A template after a pass, as a message shows it; `template: null` is the client as a whole. */
type Shown = Omit<NotifiedChange, 'event' | 'client' | 'previous' | 'run' | 'at' | 'link'>;

interface Health extends Shown {
  /** The reasons for the state, one by one: a new reason is worth a message although the state is the same. */
  readonly keys: readonly string[];
}

/** The health of everything that the pass has looked at; the rest is as before. */
export const healthsOf = ({ result, failure, removed, isEnding }: EndedPass): Health[] => {
  const { templates = [], commits = [], problems = [], holdReason = null } = result ?? {};
  const errors = groupBy(
    problems.filter(({ severity }) => severity === 'error'),
    ({ file }) => file,
  );
  const healths = worstFirst(templates)
    // If the service is unusable, all templates fail alike; the client says that once. But it says nothing of what was corrected.
    .filter((one) => holdReason === null || stateByItself(one) !== null || one.differences.some(isCorrected))
    .map((one) => healthOf(isEnding ? withoutUndone(one) : one, commits, errors.get(one.file)));
  // What it has corrected no later pass sees.
  if (isEnding) return healths.filter(({ state, counts }) => state === 'unknown' || counts.mended > 0);
  for (const { file } of templates) errors.delete(file);
  // Of files without a template, which would otherwise not be told.
  const ofFiles = [...errors.values()].flat();
  const error = failure ?? holdReason ?? firstOf(ofFiles);
  // A file that stays wrong for weeks does not hide that the service cannot be used.
  const keys = [
    failure === null ? [] : 'no pass',
    holdReason === null ? [] : 'service',
    ...new Set(ofFiles.map(({ file, check }) => `${check} ${file}`)),
  ].flat();
  const client: Health =
    error === null ? inSync : { ...inSync, state: 'failed', message: withShortTexts(error), keys };
  const gone = removed.map((template) => ({
    ...inSync,
    template,
    // A file without a readable name was told of by its own.
    message: /\.ya?ml$/.test(template) ? null : 'no file describes it any more',
  }));
  return [client, ...gone, ...healths];
};

/** A client whose passes succeed. */
export const quiet: Shown = {
  template: null,
  templateId: null,
  file: null,
  state: 'in-sync',
  message: null,
  counts: { differences: 0, mended: 0, subdomains: 0 },
  differences: [],
  subdomains: [],
};

const inSync: Health = { ...quiet, keys: [] };

type Errors = PassResult['problems'];

/** With its place; null if there is none. */
const firstOf = ([first, ...others]: Errors): string | null =>
  first === undefined ? null : problemText(first) + (others.length > 0 ? ` (and ${others.length} more)` : '');

const healthOf = (result: TemplateResult, commits: readonly Commit[], errors: Errors = []): Health => {
  const { template, id: templateId, file, revision, retryAt } = result;
  const state = stateByItself(result) ?? 'failed';
  const commit = commits.find((one) => one.revision === revision);
  const left = result.differences.filter(({ outcome }) => outcome !== 'applied');
  const reasons = left.filter(isReasonFor[state] ?? (() => false));
  const corrected = result.differences.filter(isCorrected);
  const subdomains = result.subdomains.filter(
    ({ status, answers }) => status === 'drifted' || status === 'failed' || answers.status === 'drifted',
  );
  // What a dangling record points at, why a write failed, why a subdomain cannot be read.
  const said = [
    firstOf(errors),
    result.message,
    ...subdomains.flatMap(({ answers }) => answers.differences.map(({ message }) => message)),
    ...reasons.map((one) => one.error ?? (one.action === 'blocked' ? one.message : null)),
    ...subdomains.map(({ message }) => message),
  ];
  return {
    template,
    templateId,
    file,
    ...(commit === undefined ? {} : { commit }),
    state,
    ...(retryAt === undefined ? {} : { retryAt }),
    message: withShortTexts(said.find((text) => typeof text === 'string') ?? null),
    counts: { differences: left.length, mended: corrected.length, subdomains: subdomains.length },
    differences: withShortTexts([...new Set([...reasons, ...left]), ...corrected].slice(0, maxShown)),
    subdomains: subdomains.slice(0, maxShown).map(({ subdomain }) => subdomain),
    keys: [
      // All of it, rather than some of its records.
      ...(state === 'failed' && left.length === 0 && result.status === 'failed' ? ['template'] : []),
      ...reasons.map((difference) => keyOf(difference, state)),
      ...subdomains
        .map(({ subdomain, status, answers }) => [subdomain, status, answers.status])
        .filter((parts) => parts.some((one) => one === state))
        .map((parts) => parts.join(' ')),
    ],
  };
};

/** Differences, and subdomains, of which a message shows something. */
const maxShown = 10;

/** Null where it says nothing but that the service as a whole has failed. */
const stateByItself = ({
  status,
  differences,
  subdomains,
  retryAt,
}: TemplateResult): NotifiedState | null => {
  if (differences.some(isUnknown)) return 'unknown';
  if (differences.some(isRefused)) return 'failed';
  if (status === 'failed') return null;
  if (subdomains.some((one) => one.status === 'failed')) return 'failed';
  // What waits for an earlier write to settle waits for no person.
  return retryAt === undefined ? status : 'drifted';
};

/** Changed at the service, and put right by this pass. */
const isCorrected = (one: Difference): boolean =>
  one.outcome === 'applied' && 'cause' in one && (one.cause === 'drifted' || one.cause === 'both');

/** After the shutdown: neither what it left undone nor what it could not read any more says anything. */
const withoutUndone = (one: TemplateResult): TemplateResult =>
  one.differences.some(isUnknown)
    ? one
    : { ...one, message: null, differences: one.differences.filter(isCorrected), subdomains: [] };

const isUnknown = ({ outcome }: Difference): boolean => outcome === 'unknown';

/** A write that waits for its next try still counts as failed; otherwise each try would be two messages. */
const isRefused = (difference: Difference): boolean =>
  difference.outcome === 'failed' || (difference.action === 'blocked' && difference.reason === 'refused');

const isReasonFor: Partial<Record<NotifiedState, (difference: Difference) => boolean>> = {
  drifted: () => true,
  failed: isRefused,
  unknown: isUnknown,
};

/**
 * Identifies a difference apart from its outcome, message and next try: a failed write is blocked in the next pass and
 * still the same difference. A record that was changed once more is a new one.
 */
const keyOf = (difference: Difference, state: NotifiedState): string => {
  const parts = [
    'recordId' in difference ? difference.recordId : null,
    'desired' in difference ? difference.desired : null,
    state === 'drifted' && 'current' in difference ? difference.current : null,
  ];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
};

/** Receivers limit the size of a message; the report has the full texts. */
const withShortTexts = <Whole>(whole: Whole): Whole =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  JSON.parse(
    JSON.stringify(whole, (_, value: unknown) => (typeof value === 'string' ? cut(value) : value)),
  ) as Whole;

const cut = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 2));
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}…` : text;
};
const maxCharacters = 500;
