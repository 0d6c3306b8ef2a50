import { Gauge, type Registry } from 'prom-client';
import type { KnownAnswers } from '../report/with-answers.ts';
import type { AnswerDifference, ServerResult } from '../result.ts';
import { countsOf } from './answers-rounds.ts';
import { prefix } from './template-gauges.ts';

/**
 * Metrics of what name servers answer, one set of series a client: its subdomains are too many for their own
 * series.
 */
export interface AnswersGauges {
  readonly show: (client: string, known: KnownAnswers) => void;
  readonly remove: (client: string) => void;
}

export const answersGauges = (registers: Registry[]): AnswersGauges => {
  const subdomains = new Gauge({
    name: `${prefix}answers_subdomains`,
    help: 'Subdomains by the result of comparing the answers of their name servers with the service.',
    labelNames: ['client', 'status'],
    registers,
  });
  const servers = new Gauge({
    name: `${prefix}answers_servers`,
    help: 'Name servers by how they answer, once for each subdomain.',
    labelNames: ['client', 'status'],
    registers,
  });
  const differences = new Gauge({
    name: `${prefix}answers_differences`,
    help: 'Record sets for which a name server answers something else than the service shows.',
    labelNames: ['client', 'kind'],
    registers,
  });
  const asked = new Gauge({
    name: `${prefix}last_answers_timestamp_seconds`,
    help: 'When the name servers were last asked.',
    labelNames: ['client'],
    registers,
  });
  return {
    show: (client, known) => {
      for (const [status, count] of Object.entries(countsOf(known)))
        subdomains.set({ client, status }, count);
      const found = [...known.values()];
      const states = found.flatMap((one) => one.servers.map(({ status }) => status));
      for (const status of serverStates)
        servers.set({ client, status }, states.filter((one) => one === status).length);
      const shown = found.flatMap((one) => one.differences.map(({ kind }) => kind));
      for (const kind of kinds) differences.set({ client, kind }, shown.filter((one) => one === kind).length);
      asked.setToCurrentTime({ client });
    },
    remove: (client) => {
      for (const status of ['in-sync', 'pending', 'drifted', 'failed']) subdomains.remove({ client, status });
      for (const status of serverStates) servers.remove({ client, status });
      for (const kind of kinds) differences.remove({ client, kind });
      asked.remove({ client });
    },
  };
};

const serverStates: readonly ServerResult['status'][] = [
  'in-sync',
  'pending',
  'drifted',
  'lame',
  'refused',
  'silent',
  'failed',
];
const kinds: readonly AnswerDifference['kind'][] = ['missing', 'stale', 'foreign', 'flattened'];
