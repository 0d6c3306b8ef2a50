import type { MetricMaker } from './metric-maker.ts';

/** `takenOver`: clients of a process that had not given them up; `lost`: clients that this one had not given up. */
export type OwnedCounter = (
  owned: number,
  change: { readonly takenOver?: number; readonly lost?: number },
) => void;

/** Metrics of the clients that this process owns: only processes that share a store have any. */
export const ownedMetrics = (make: MetricMaker): OwnedCounter => {
  let metrics: ReturnType<typeof create> | null = null;
  return (owned, { takenOver = 0, lost = 0 }) => {
    metrics ??= create(make);
    metrics.owned.set(owned);
    metrics.takenOver.inc(takenOver);
    metrics.lost.inc(lost);
  };
};

const create = ({ gauge, counter }: MetricMaker) => ({
  owned: gauge('clients_owned', [], 'Clients whose passes this process makes.'),
  takenOver: counter(
    'clients_taken_over_total',
    [],
    'Clients that this process took over from one that had not given them up.',
  ),
  lost: counter(
    'clients_lost_total',
    [],
    'Clients that this process lost, since it did not renew its lease in time.',
  ),
});
