import { Counter, Gauge, type Registry } from 'prom-client';
import { prefix } from './template-gauges.ts';

/** What became of a lease of this process. */
export type LeaseChange = 'taken' | 'taken-over' | 'lost' | 'given-back';

/** Metrics of leases, from the first one on: only processes that share a store have any. */
export const leaseMetrics = (registers: Registry[]): ((lease: string, change: LeaseChange) => void) => {
  let metrics: ReturnType<typeof create> | null = null;
  return (lease, change) => {
    metrics ??= create(registers);
    const { held, takenOver, lost } = metrics;
    if (change === 'taken' || change === 'taken-over') held.inc({ lease });
    if (change === 'taken-over') takenOver.inc({ lease });
    if (change === 'lost') lost.inc({ lease });
    if (change === 'given-back') held.dec({ lease });
  };
};

const create = (registers: Registry[]) => {
  const held = new Gauge({
    name: `${prefix}leases_held`,
    help: 'Leases that this process holds: on clients, to publish files, to send notifications.',
    labelNames: ['lease'],
    registers,
  });
  const takenOver = new Counter({
    name: `${prefix}leases_taken_over_total`,
    help: 'Leases that this process took over from one that had not given them back.',
    labelNames: ['lease'],
    registers,
  });
  const lost = new Counter({
    name: `${prefix}leases_lost_total`,
    help: 'Leases that this process did not renew in time.',
    labelNames: ['lease'],
    registers,
  });
  for (const lease of ['client', 'source', 'notifications'])
    for (const metric of [held, takenOver, lost]) metric.inc({ lease }, 0);
  return { held, takenOver, lost };
};
