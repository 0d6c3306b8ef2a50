import { escapeControl } from '../lib/escape-control.ts';
import { groupBy } from '../model/group.ts';
import type { RecordData } from '../model/record.ts';
import {
  worstOf,
  type AnswerDifference,
  type PassResult,
  type ServerResult,
  type SubdomainAnswers,
} from '../result.ts';
import { rowBetween, type ReportRow } from './row.ts';

/** The last answers of name servers, by template and subdomain. */
export type KnownAnswers = ReadonlyMap<string, SubdomainAnswers>;

/** Template null: no file names the subdomain. */
export const answersKey = (template: string | null, subdomain: string): string =>
  JSON.stringify([template, subdomain]);

/** Adds the answers of name servers to a pass. Wrong answers are drift; a failure to ask is no failure of the template. */
export const withAnswers = (pass: PassResult, known: KnownAnswers): PassResult => {
  if (known.size === 0) return pass;
  const templates = pass.templates.map((template) => {
    const subdomains = template.subdomains.map((one) => ({
      ...one,
      answers: known.get(answersKey(template.template, one.subdomain)) ?? one.answers,
    }));
    const isWrong = subdomains.some(({ answers }) => answers.status === 'drifted');
    const status = isWrong ? worstOf(['drifted', template.status]) : template.status;
    return { ...template, subdomains, status };
  });
  return { ...pass, templates };
};

/** The answers that a pass was shown with. */
export const answersIn = ({ templates }: PassResult): KnownAnswers =>
  new Map(
    templates.flatMap(({ template, subdomains }) =>
      subdomains
        .filter(({ answers }) => answers.status !== 'off')
        .map(({ subdomain, answers }) => [answersKey(template, subdomain), answers] as const),
    ),
  );

/** The answers of a subdomain's name servers, for people; null if they were not asked. */
export const answersView = (answers: SubdomainAnswers, subdomain: string) => {
  const { status, servers, differences, askedAt, message } = answers;
  if (status === 'off') return null;
  const labelOf = serverLabels(servers);
  const rows = differences.map((one) =>
    rowOfAnswer(one, labelOf({ name: one.server, address: one.address }), subdomain),
  );
  return {
    status,
    /** One sentence for each server with a message, after the age of the answers. */
    remarks: [
      ...(message === undefined
        ? []
        : [`these answers are of ${askedAt ?? 'an unknown time'}; since then: ${message}`]),
      ...servers.flatMap((server) => (server.message === null ? [] : remarkOn(server, server.message))),
    ].map(escapeControl),
    /** Equal answers of several servers are one row. */
    rows: [...groupBy(rows, (row) => JSON.stringify({ ...row, why: [] })).values()].map((alike) => ({
      ...alike[0]!,
      why: [...new Set(alike.flatMap(({ why }) => why))],
    })),
  };
};

const remarkOn = (server: ServerResult, message: string): string =>
  [serverName(server), isFaulty(server) ? `${server.status}, ${message}` : message]
    .filter(Boolean)
    .join(': ');

/** The answer of a server on the left, what the service shows on the right. */
const rowOfAnswer = (
  { kind, name, type, desired, current, message }: AnswerDifference,
  server: string,
  subdomain: string,
): ReportRow => {
  const below = `.${subdomain}`;
  const relative = name === subdomain ? null : name.endsWith(below) ? name.slice(0, -below.length) : name;
  /** All records of a set as one. */
  const asOne = (records: readonly RecordData[]): RecordData => {
    const contents = records.map(({ content, priority }) => [priority ?? [], content].flat().join(' '));
    const content = contents.sort().join(', ');
    return { type, name: relative, content, priority: null, ttl: records[0]?.ttl ?? null };
  };
  return {
    ...rowBetween(kind, kind === 'missing' ? null : asOne(current), asOne(desired)),
    why: [escapeControl(server)],
    remark: message === undefined ? null : escapeControl(message),
  };
};

export const isFaulty = ({ status }: ServerResult): boolean => status === 'silent' || status === 'failed';

export const hasTrouble = ({ status, servers, differences, message }: SubdomainAnswers): boolean =>
  status !== 'off' &&
  (status !== 'in-sync' || servers.some(isFaulty) || differences.length > 0 || message !== undefined);

type ServerPlace = Pick<ServerResult, 'name' | 'address'>;

/** By their names; a server with several addresses by those too. */
export const serverLabels = (servers: readonly ServerPlace[]): ((server: ServerPlace) => string) => {
  const several = groupBy(servers, ({ name }) => name);
  return (server) => ((several.get(server.name)?.length ?? 0) > 1 ? serverName(server) : server.name);
};

/** `ns1.example.net (192.0.2.53)`. */
const serverName = ({ name, address }: ServerPlace): string =>
  address === '' || address === name ? name : `${name} (${address})`.trimStart();
