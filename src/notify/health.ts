import { createHash } from 'node:crypto';
import type { Difference } from '../plan/difference.ts';
import { isFaulty } from '../report/answers-view.ts';
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

/** The health of one template after a pass. */
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
  /** Changed at the service, and corrected by this pass. */
  readonly corrected: readonly Difference[];
  /** What still differs; the reasons for the state come first. */
  readonly differences: readonly Difference[];
  /** Those that are behind their template, could not be read, or have other answers from name servers. */
  readonly subdomains: readonly SubdomainResult[];
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
    { ...nothing, state: error === null ? 'in-sync' : 'failed', message: error },
    ...removed.map((template) => ({ ...nothing, template, message: 'no file describes it any more' })),
    ...(result?.templates ?? [])
      .filter((template) => result?.holdReason === null || hasFailedByItself(template))
      .map(healthOf),
  ];
};

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

const nothing: TemplateHealth = {
  template: null,
  templateId: null,
  file: null,
  state: 'in-sync',
  message: null,
  keys: [],
  corrected: [],
  differences: [],
  subdomains: [],
};

/** If the service is unusable, all templates fail alike; the client reports that once. */
const hasFailedByItself = (template: TemplateResult): boolean =>
  template.status !== 'failed' || template.differences.some((one) => isUnknown(one) || isRefused(one));

const healthOfTemplate = (result: TemplateResult): TemplateHealth => {
  const state = stateOf(result);
  const remaining = result.differences.filter(({ outcome }) => outcome !== 'applied');
  const isDecisive = decisive[state];
  const subdomains = result.subdomains.filter(
    ({ status, answers }) => status === 'drifted' || status === 'failed' || answers.status === 'drifted',
  );
  return {
    template: result.template,
    templateId: result.id,
    file: result.file,
    state,
    message: result.message ?? danglingWords(subdomains),
    keys: [
      ...remaining.filter(isDecisive).map((difference) => keyOf(difference, state)),
      ...subdomainKeys(state, subdomains),
      ...answerKeys(state, subdomains),
    ],
    corrected: result.differences.filter(wasCorrected),
    differences: [
      ...remaining.filter(isDecisive),
      ...remaining.filter((difference) => !isDecisive(difference)),
    ],
    subdomains,
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

/** Whether it was changed at the service, and a pass has put it right. */
export const wasCorrected = (difference: Difference): boolean =>
  difference.outcome === 'applied' &&
  'cause' in difference &&
  (difference.cause === 'drifted' || difference.cause === 'both');

const decisive: Record<HealthState, (difference: Difference) => boolean> = {
  'in-sync': () => false,
  drifted: () => true,
  suspended: () => false,
  held: () => false,
  failed: isRefused,
  unknown: isUnknown,
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

/** Urgent, and not to be seen from the names of the subdomains. */
const danglingWords = (subdomains: readonly SubdomainResult[]): string | null => {
  const found = subdomains.flatMap(({ answers }) =>
    answers.status === 'drifted' ? answers.differences.flatMap(({ message }) => message ?? []) : [],
  );
  return found.length === 0 ? null : [...new Set(found)].join('; ');
};

const subdomainKeys = (state: HealthState, subdomains: readonly SubdomainResult[]): string[] =>
  subdomains
    .filter(({ status }) => status === state)
    .flatMap(({ subdomain, differences }) =>
      state === 'failed'
        ? [digestOf([subdomain])]
        : differences.map(({ kind, templateRecord, record }) =>
            digestOf([subdomain, kind, templateRecord?.id, record]),
          ),
    );

/** The reasons that come from name servers: wrong answers and faulty servers. */
const answerKeys = (state: HealthState, subdomains: readonly SubdomainResult[]): string[] =>
  subdomains
    .filter(({ answers }) => answers.status === state)
    .flatMap(({ subdomain, answers: { servers, differences } }) => [
      ...differences.map(({ kind, server, address, name, type, current }) =>
        digestOf([subdomain, kind, server, address, name, type, current]),
      ),
      ...servers
        .filter(isFaulty)
        .map(({ name, address, status }) => digestOf([subdomain, name, address, status])),
    ]);

const digestOf = (parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
