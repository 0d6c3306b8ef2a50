import { escapeControl } from '../lib/escape-control.ts';
import { groupBy } from '../plan/group.ts';
import type { AnswerDifference, ServerResult, SubdomainAnswers } from '../result.ts';
import { rowOfAnswer, type Row } from './row.ts';

/** The answers of a subdomain's name servers, for people. */
export interface AnswersView {
  readonly status: Exclude<SubdomainAnswers['status'], 'off'>;
  /** One sentence for each server with a message, and the serials if they differ. */
  readonly remarks: readonly string[];
  readonly rows: readonly Row[];
}

/** Null if they were not asked. */
export const answersView = (
  { status, servers, differences }: SubdomainAnswers,
  subdomain: string,
): AnswersView | null => {
  if (status === 'off') return null;
  return {
    status,
    remarks: servers.flatMap(remarkOn).map(escapeControl),
    rows: [...groupBy(differences, sameness).values()].flatMap((group) => rowOf(group, subdomain)),
  };
};

export const isFaulty = ({ status }: ServerResult): boolean =>
  status === 'lame' || status === 'refused' || status === 'silent' || status === 'failed';

export const hasTrouble = ({ status, servers, differences }: SubdomainAnswers): boolean =>
  status !== 'off' && (status !== 'in-sync' || servers.some(isFaulty) || differences.length > 0);

/** `ns1.example.net (192.0.2.53)`. */
export const serverName = ({ name, address }: Pick<ServerResult, 'name' | 'address'>): string =>
  address === '' || address === name ? name : [name, `(${address})`].filter(Boolean).join(' ');

const remarkOn = (server: ServerResult): string[] => {
  if (server.message === null) return [];
  const serial = server.status === 'pending' && server.serial !== null ? ` (${server.serial})` : '';
  const name = serverName(server);
  return [
    `${name === '' ? '' : `${name}: `}${isFaulty(server) ? `${server.status}, ` : ''}${server.message}${serial}`,
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

const rowOf = (group: readonly AnswerDifference[], subdomain: string): Row[] => {
  const [first] = group;
  if (first === undefined) return [];
  return [rowOfAnswer(first, [...new Set(group.map(({ server }) => server))], subdomain)];
};
