import { escapeControl } from '../lib/escape-control.ts';
import { groupBy } from '../model/group.ts';
import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import { rowOfAnswer, type ReportRow } from './row.ts';

/** The answers of a subdomain's name servers, for people. */
export interface AnswersView {
  readonly status: Exclude<SubdomainAnswers['status'], 'off'>;
  /** One sentence for each server with a message, and the serials if they differ. */
  readonly remarks: readonly string[];
  readonly rows: readonly ReportRow[];
}

/** Null if they were not asked. */
export const answersView = (answers: SubdomainAnswers, subdomain: string): AnswersView | null => {
  const { status, servers, differences } = answers;
  if (status === 'off') return null;
  const labelOf = serverLabels(servers);
  return {
    status,
    remarks: [...ageOf(answers), ...servers.flatMap(remarkOn)].map(escapeControl),
    rows: [...groupBy(differences, sameness).values()].flatMap((group) => rowOf(group, labelOf, subdomain)),
  };
};

/** Empty if the answers are those of the last round. */
const ageOf = ({ askedAt, message }: SubdomainAnswers): string[] =>
  message === undefined
    ? []
    : [`these answers are of ${askedAt ?? 'an unknown time'}; since then: ${message}`];

export const isFaulty = ({ status }: ServerResult): boolean => status === 'silent' || status === 'failed';

export const hasTrouble = ({ status, servers, differences, message }: SubdomainAnswers): boolean =>
  status !== 'off' &&
  (status !== 'in-sync' || servers.some(isFaulty) || differences.length > 0 || message !== undefined);

/** `ns1.example.net (192.0.2.53)`. */
const serverName = ({ name, address }: ServerPlace): string =>
  address === '' || address === name ? name : [name, `(${address})`].filter(Boolean).join(' ');

type ServerPlace = Pick<ServerResult, 'name' | 'address'>;

/** By their names; a server with several addresses by those too. */
export const serverLabels = (servers: readonly ServerPlace[]): ((server: ServerPlace) => string) => {
  const several = groupBy(servers, ({ name }) => name);
  return (server) => ((several.get(server.name)?.length ?? 0) > 1 ? serverName(server) : server.name);
};

const remarkOn = (server: ServerResult): string[] => {
  if (server.message === null) return [];
  const name = serverName(server);
  return [
    `${name === '' ? '' : `${name}: `}${isFaulty(server) ? `${server.status}, ` : ''}${server.message}`,
  ];
};

/** Equal answers of several servers are one row. */
const sameness = ({ kind, name, type, current }: AnswerDifference): string =>
  JSON.stringify([
    kind,
    name,
    type,
    current.map(({ content, priority, ttl }) => JSON.stringify([content, priority, ttl])).sort(),
  ]);

const rowOf = (
  group: readonly AnswerDifference[],
  labelOf: (server: ServerPlace) => string,
  subdomain: string,
): ReportRow[] => {
  const [first] = group;
  if (first === undefined) return [];
  const labels = group.map(({ server, address }) => labelOf({ name: server, address }));
  return [rowOfAnswer(first, [...new Set(labels)], subdomain)];
};
