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
export interface ClientState extends PassLoopState, ClientBasics {
  readonly health: 'starting' | 'healthy' | 'held' | 'denied' | 'failing';
  /** Why it is not healthy; null if it is. */
  readonly why: string | null;
  /** Why nobody knows whether it is in sync; null if the last pass has compared it. */
  readonly uncompared: string | null;
}

interface ClientBasics {
  readonly client: string;
  /** Why the last pass could not be made, or ended early; null if it completed. */
  readonly lastError: string | null;
  /** Whether its templates and the service were ever read, passes can be made, and the tokens are not rejected for long. */
  readonly isReady: boolean;
  /** The time of the next scheduled pass. */
  readonly nextScheduled: Date | null;
}

/** `latest`: the known state of its templates; null before the first pass. */
export const clientState = (
  known: ClientBasics,
  loop: PassLoopState,
  latest: PassResult | null,
): ClientState => {
  const { lastError } = known;
  const hasCompared = latest !== null && (lastError === null || latest.holdReason === lastError);
  const [health, why] = healthOf(lastError, latest);
  return { ...known, ...loop, health, why, uncompared: hasCompared ? null : why };
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
  const unready = clients.filter(({ isReady }) => !isReady);
  const whys = unready.map(({ client, why }) => `${client}: ${why ?? 'it was not read yet'}`);
  const reason = [trouble ?? [], whys].flat().join('; ') || null;
  const fleet = summary && { processes: summary.processes, unowned: summary.unowned };
  return { ready: reason === null, reason, ...(fleet && { fleet }) };
};

const healthOf = (
  lastError: string | null,
  latest: PassResult | null,
): [ClientState['health'], why: string | null] => {
  if (lastError !== null) {
    const isDenied = latest?.isDenied === true && latest.holdReason === lastError;
    return [isDenied ? 'denied' : 'failing', lastError];
  }
  if (latest === null) return ['starting', 'no pass has ended yet'];
  const reasonOf = (status: string): string | null => {
    const found = latest.templates.find((one) => one.status === status);
    return found ? `${found.template}: ${found.message ?? status}` : null;
  };
  const problem = latest.problems.find(({ severity }) => severity === 'error');
  const failure = reasonOf('failed') ?? problem?.message ?? null;
  if (failure !== null) return ['failing', failure];
  const held = reasonOf('held');
  return held === null ? ['healthy', null] : ['held', held];
};
