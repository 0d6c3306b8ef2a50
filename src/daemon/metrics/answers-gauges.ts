import type { KnownAnswers } from '../../report/with-answers.ts';
import type { AnswerDifference, ServerResult } from '../../result.ts';
import { countsOf } from '../passes/answers-rounds.ts';
import type { MetricMaker } from './metric-maker.ts';

/**
 * Metrics of what name servers answer, one set of series a client: its subdomains are too many for their own
 * series.
 */
export interface AnswersGauges {
  readonly show: (client: string, known: KnownAnswers) => void;
  readonly remove: (client: string) => void;
}

export const answersGauges = ({ gauge }: MetricMaker): AnswersGauges => {
  const subdomains = gauge(
    'answers_subdomains',
    ['client', 'status'],
    'Subdomains by the result of comparing the answers of their name servers with the service.',
  );
  const servers = gauge(
    'answers_servers',
    ['client', 'status'],
    'Name servers by how they answer, once for each subdomain.',
  );
  const differences = gauge(
    'answers_differences',
    ['client', 'kind'],
    "Record sets for which a name server's answer differs from the service, or whose target does not exist.",
  );
  const asked = gauge('last_answers_timestamp_seconds', ['client'], 'When the name servers were last asked.');
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

const serverStates: readonly ServerResult['status'][] = ['in-sync', 'pending', 'drifted', 'silent', 'failed'];
const kinds: readonly AnswerDifference['kind'][] = ['missing', 'stale', 'dangling'];
