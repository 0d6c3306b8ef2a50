import { leaseKinds, type LeaseChange, type LeaseKind } from '../../model/lease.ts';
import type { MetricMaker } from './metric-maker.ts';

/** Metrics of leases, from the first one on: only processes that share a store have any. */
export const leaseMetrics = (make: MetricMaker): ((lease: LeaseKind, change: LeaseChange) => void) => {
  let metrics: ReturnType<typeof create> | null = null;
  return (lease, change) => {
    metrics ??= create(make);
    const { held, takenOver, lost } = metrics;
    if (change === 'taken' || change === 'taken-over') held.inc({ lease });
    if (change === 'taken-over') takenOver.inc({ lease });
    if (change === 'lost') lost.inc({ lease });
    if (change === 'given-back') held.dec({ lease });
  };
};

const create = ({ gauge, counter }: MetricMaker) => {
  const held = gauge(
    'leases_held',
    ['lease'],
    'Leases that this process holds: on clients, to publish files, to send notifications.',
  );
  const takenOver = counter(
    'leases_taken_over_total',
    ['lease'],
    'Leases that this process took over from one that had not given them back.',
  );
  const lost = counter('leases_lost_total', ['lease'], 'Leases that this process did not renew in time.');
  for (const lease of leaseKinds) for (const metric of [held, takenOver, lost]) metric.inc({ lease }, 0);
  return { held, takenOver, lost };
};
