import { createHash } from 'node:crypto';
import type { Difference } from '../plan/difference.ts';
import { isFaulty } from '../report/answers-view.ts';
import { statusWords } from '../report/view.ts';
import type { Commit, PassResult, SubdomainResult, TemplateResult } from '../result.ts';

/** The state of a template, or of a client as a whole. `unknown`: a write has an unknown outcome. */
export const states = ['in-sync', 'drifted', 'suspended', 'held', 'failed', 'unknown'] as const;
export type HealthState = (typeof states)[number];

/** The result of one pass over one client. */
export interface PassEvent {
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
  /** The shutdown cut the pass short: what is left undone has no meaning. */
  readonly isEnding: boolean;
}

/** The health of one template after a pass, as far as a message shows it. */
export interface TemplateHealth {
  /** Null: the client as a whole. */
  readonly template: string | null;
  readonly templateId: number | null;
  readonly file: string | null;
  /** The commit of its file; absent if it is in none, or nobody knows where to see it. */
  readonly commit?: Commit;
  readonly state: HealthState;
  readonly message: string | null;
  /** The reasons for the state, one by one: a new reason is worth a message although the state is the same. */
  readonly keys: readonly string[];
  /** `differences` that are left, `mended` ones, `subdomains` with a fault, and of these the `answers` of name servers. */
  readonly counts: Readonly<Record<'differences' | 'mended' | 'subdomains' | 'answers', number>>;
  /** The first ten with long texts cut: the reasons for the state, what else differs, and what was mended. */
  readonly differences: readonly Difference[];
  /** The first ten with a fault, and what it is. */
  readonly subdomains: readonly { readonly name: string; readonly words: string }[];
}

/** The health of everything that the pass has looked at; the rest is as before. */
export const healthsOf = ({ result, failure, removed, isEnding }: PassEvent): TemplateHealth[] => {
  const healthOf = (template: TemplateResult): TemplateHealth => {
    const commit = result?.commits?.find(({ revision }) => revision === template.revision);
    return { ...healthOfTemplate(template), ...(commit === undefined ? {} : { commit }) };
  };
  if (isEnding) return (result?.templates ?? []).map(healthOf).filter(({ state }) => state === 'unknown');
  const error = failure ?? result?.holdReason ?? problemsIn(result);
  return [
    { ...nothing, state: error === null ? 'in-sync' : 'failed', message: cutOr(error) },
    ...removed.map((template) => ({ ...nothing, template, message: 'no file describes it any more' })),
    ...(result?.templates ?? [])
      .filter((template) => result?.holdReason === null || hasFailedByItself(template))
      .map(healthOf),
  ];
};

/** Of a client whose passes succeed. */
export const nothing: TemplateHealth = {
  template: null,
  templateId: null,
  file: null,
  state: 'in-sync',
  message: null,
  keys: [],
  counts: { differences: 0, mended: 0, subdomains: 0, answers: 0 },
  differences: [],
  subdomains: [],
};

/** Whether it was changed at the service, and a pass has put it right. */
export const wasCorrected = (difference: Difference): boolean =>
  difference.outcome === 'applied' &&
  'cause' in difference &&
  (difference.cause === 'drifted' || difference.cause === 'both');

/** The first errors of files without a template, which would otherwise not be reported. */
const problemsIn = (result: PassResult | null): string | null => {
  const files = new Set(result?.templates.map(({ file }) => file));
  const errors = (result?.problems ?? []).filter(
    ({ severity, file }) => severity === 'error' && (file === null || !files.has(file)),
  );
  if (errors.length === 0) return null;
  const first = errors.slice(0, 3).map(({ file, line, message }) => {
    const place = [file, line].filter((part) => part !== null).join(':');
    return place === '' ? message : `${place}: ${message}`;
  });
  return [...first, ...(errors.length > 3 ? [`and ${errors.length - 3} more`] : [])].join('; ');
};

/** If the service is unusable, all templates fail alike; the client reports that once. */
const hasFailedByItself = (template: TemplateResult): boolean =>
  template.status !== 'failed' || template.differences.some((one) => isUnknown(one) || isRefused(one));

const healthOfTemplate = (result: TemplateResult): TemplateHealth => {
  const state = stateOf(result);
  const remaining = result.differences.filter(({ outcome }) => outcome !== 'applied');
  const corrected = result.differences.filter(wasCorrected);
  const isDecisive = decisive[state] ?? (() => false);
  const reasons = remaining.filter(isDecisive);
  const others = remaining.filter((difference) => !isDecisive(difference));
  const subdomains = result.subdomains.filter(
    ({ status, answers }) => isBehind(status) || answers.status === 'drifted',
  );
  return {
    template: result.template,
    templateId: result.id,
    file: result.file,
    state,
    message: cutOr(result.message ?? danglingWords(subdomains) ?? errorIn(state, reasons, subdomains)),
    keys: [
      ...reasons.map((difference) => keyOf(difference, state)),
      ...subdomains.flatMap((subdomain) => subdomainKeys(state, subdomain)),
    ],
    counts: {
      differences: remaining.length,
      mended: corrected.length,
      subdomains: subdomains.length,
      answers: subdomains.filter(({ status, answers }) => !isBehind(status) && answers.status !== 'off')
        .length,
    },
    differences: [...reasons, ...others, ...corrected].slice(0, maxShown).map(withShortTexts),
    subdomains: subdomains.slice(0, maxShown).map(({ subdomain, status, answers }) => ({
      name: subdomain,
      words:
        isBehind(status) || answers.status === 'off'
          ? statusWords[status]
          : `name servers ${statusWords[answers.status]}`,
    })),
  };
};

/** What waits for an earlier write to settle waits for no person. */
const stateOf = ({ status, differences, subdomains, retryAt }: TemplateResult): HealthState => {
  if (differences.some(isUnknown)) return 'unknown';
  if (status === 'failed' || differences.some(isRefused)) return 'failed';
  if (subdomains.some((one) => one.status === 'failed')) return 'failed';
  return retryAt === undefined ? status : 'drifted';
};

const isUnknown = ({ outcome }: Difference): boolean => outcome === 'unknown';

/** A write that waits for its next try still counts as failed; otherwise each try would be two messages. */
const isRefused = (difference: Difference): boolean =>
  difference.outcome === 'failed' || (difference.action === 'blocked' && difference.reason === 'refused');

const decisive: Partial<Record<HealthState, (difference: Difference) => boolean>> = {
  drifted: () => true,
  failed: isRefused,
  unknown: isUnknown,
};

const isBehind = (status: SubdomainResult['status']): boolean => status === 'drifted' || status === 'failed';

/** Urgent, and not to be seen from the names of the subdomains. */
const danglingWords = (subdomains: readonly SubdomainResult[]): string | null => {
  const found = subdomains.flatMap(({ answers }) =>
    answers.status === 'drifted' ? answers.differences.flatMap(({ message }) => message ?? []) : [],
  );
  return found.length === 0 ? null : [...new Set(found)].join('; ');
};

/** A template has no message of its own if a write failed, or if a subdomain cannot be read. */
const errorIn = (
  state: HealthState,
  reasons: readonly Difference[],
  subdomains: readonly SubdomainResult[],
): string | null => {
  if (state !== 'failed' && state !== 'unknown') return null;
  const unread = subdomains.find(({ status }) => status === 'failed');
  const refused = reasons.find(({ action }) => action === 'blocked');
  return (
    reasons.find(({ outcome }) => outcome === state)?.error ??
    (refused?.action === 'blocked' ? refused.message : null) ??
    (state === 'failed' ? (unread?.message ?? null) : null)
  );
};

/**
 * Identifies a difference apart from its outcome, message and next try: a failed write is blocked in the next
 * pass and still the same difference. A record that was changed once more is a new difference.
 */
const keyOf = (difference: Difference, state: HealthState): string =>
  digestOf([
    'recordId' in difference ? difference.recordId : null,
    'desired' in difference ? difference.desired : null,
    state === 'drifted' && 'current' in difference ? difference.current : null,
  ]);

/** The reasons that a subdomain has for the state: its own records, wrong answers and faulty servers. */
const subdomainKeys = (
  state: HealthState,
  { subdomain, status, differences, answers }: SubdomainResult,
): string[] => [
  ...(status === 'failed' && state === 'failed' ? [digestOf([subdomain])] : []),
  ...(status === 'drifted' && state === 'drifted'
    ? differences.map(({ kind, templateRecord, record }) =>
        digestOf([subdomain, kind, templateRecord?.id, record]),
      )
    : []),
  ...(answers.status === state
    ? [
        ...answers.differences.map(({ kind, server, address, name, type, current }) =>
          digestOf([subdomain, kind, server, address, name, type, current]),
        ),
        ...answers.servers
          .filter(isFaulty)
          .map((server) => digestOf([subdomain, server.name, server.address, server.status])),
      ]
    : []),
];

const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);

const maxShown = 10;

const withShortTexts = (difference: Difference): Difference => {
  const short: unknown = JSON.parse(
    JSON.stringify(difference, (_, value: unknown) => (typeof value === 'string' ? cut(value) : value)),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  return short as Difference;
};

const cutOr = (text: string | null): string | null => (text === null ? null : cut(text));

/** Receivers limit the size of a message; the report has the full text. */
const cut = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 2));
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}…` : text;
};
const maxCharacters = 500;
