import type { PassResult } from '../../result.ts';
import type { PassLoopState } from '../passes/loop.ts';
import type { FleetSummary } from '../../status-page/facts.ts';
import type { Fleet } from '../fleet.ts';

/**
 * The state of one client, for the status page and readiness.
 *
 * | health     | the last pass                                                        |
 * |------------|----------------------------------------------------------------------|
 * | `starting` | has not ended yet, and was the first                                 |
 * | `healthy`  | went well; nothing waits for a person                                |
 * | `held`     | went well, and a template waits for a person                         |
 * | `denied`   | ended early, since the service rejects the tokens                    |
 * | `failing`  | could not run, or something in it failed                         |
 */
export interface ClientState extends PassLoopState {
  readonly client: string;
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null if it is. */
  readonly why: string | null;
  /** Why the last pass could not be made, or ended early; null if it completed. */
  readonly lastError: string | null;
  /** Why nobody knows whether it is in sync; null if the last pass has compared it. */
  readonly uncompared: string | null;
  /** Whether its templates and the service were ever read, passes can be made, and the tokens are not rejected for long. */
  readonly isReady: boolean;
  /** The time of the next scheduled pass. */
  readonly nextScheduled: Date | null;
}

export interface ClientFacts extends Pick<ClientState, 'client' | 'isReady' | 'lastError' | 'nextScheduled'> {
  readonly loop: PassLoopState;
  /** The known state of its templates; null before the first pass. */
  readonly latest: PassResult | null;
}

export const clientState = ({ loop, latest, ...facts }: ClientFacts): ClientState => {
  const { lastError } = facts;
  const hasCompared = latest !== null && latest.holdReason === lastError;
  const uncompared = hasCompared ? null : (lastError ?? (latest === null ? noPass : null));
  return { ...facts, ...loop, ...healthOf({ lastError, latest }), uncompared };
};

export interface Readiness {
  readonly ready: boolean;
  /** Why not; null when ready. */
  readonly reason: string | null;
  /** Where processes share clients: those that are alive, and clients that none of them owns. */
  readonly fleet?: Pick<FleetSummary, 'processes' | 'unowned'>;
}

/** Ready once every client is, and as long as passes can be made. */
export const readinessOf = (
  clients: readonly ClientState[],
  { trouble, summary }: Pick<Fleet, 'trouble' | 'summary'>,
): Readiness => {
  const unready = clients
    .filter(({ isReady }) => !isReady)
    .map(({ client, why }) => `${client}: ${why ?? 'it was not read yet'}`);
  const reasons = [...(trouble === null ? [] : [trouble]), ...unready];
  const fleet = summary && { processes: summary.processes, unowned: summary.unowned };
  return { ready: reasons.length === 0, reason: reasons.join('; ') || null, ...(fleet && { fleet }) };
};

const noPass = 'no pass has ended yet';

const healthOf = ({
  lastError,
  latest,
}: Pick<ClientFacts, 'lastError' | 'latest'>): Pick<ClientState, 'health' | 'why'> => {
  if (lastError !== null) {
    const isDenied = latest?.isDenied === true && latest.holdReason === lastError;
    return { health: isDenied ? 'denied' : 'failing', why: lastError };
  }
  if (latest === null) return { health: 'starting', why: noPass };
  const failed = latest.templates.find(({ status }) => status === 'failed');
  if (failed) return { health: 'failing', why: saying(failed) };
  const problem = latest.problems.find(({ severity }) => severity === 'error');
  if (problem) return { health: 'failing', why: problem.message };
  const held = latest.templates.find(({ status }) => status === 'held');
  return held ? { health: 'held', why: saying(held) } : { health: 'healthy', why: null };
};

const saying = ({ template, status, message }: PassResult['templates'][number]): string =>
  `${template}: ${message ?? status}`;
