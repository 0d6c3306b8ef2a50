import { escapeControl } from '../lib/escape-control.ts';
import { groupBy } from '../model/group.ts';
import type { ServerResult, SubdomainAnswers } from '../result.ts';
import { rowOfAnswer } from './row.ts';

/** The answers of a subdomain's name servers, for people; null if they were not asked. */
export const answersView = (answers: SubdomainAnswers, subdomain: string) => {
  const { status, servers, differences } = answers;
  if (status === 'off') return null;
  const labelOf = serverLabels(servers);
  const rows = differences.map((one) =>
    rowOfAnswer(one, labelOf({ name: one.server, address: one.address }), subdomain),
  );
  return {
    status,
    /** One sentence for each server with a message, after the age of the answers. */
    remarks: [...ageOf(answers), ...servers.flatMap(remarkOn)].map(escapeControl),
    /** Equal answers of several servers are one row. */
    rows: [...groupBy(rows, (row) => JSON.stringify({ ...row, why: [] })).values()].map((alike) => ({
      ...alike[0]!,
      why: [...new Set(alike.flatMap(({ why }) => why))],
    })),
  };
};

const remarkOn = (server: ServerResult): string[] => {
  if (server.message === null) return [];
  const said = isFaulty(server) ? `${server.status}, ${server.message}` : server.message;
  return [[serverName(server), said].filter(Boolean).join(': ')];
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

type ServerPlace = Pick<ServerResult, 'name' | 'address'>;

/** `ns1.example.net (192.0.2.53)`. */
const serverName = ({ name, address }: ServerPlace): string =>
  address === '' || address === name ? name : `${name} (${address})`.trimStart();

/** By their names; a server with several addresses by those too. */
export const serverLabels = (servers: readonly ServerPlace[]): ((server: ServerPlace) => string) => {
  const several = groupBy(servers, ({ name }) => name);
  return (server) => ((several.get(server.name)?.length ?? 0) > 1 ? serverName(server) : server.name);
};
