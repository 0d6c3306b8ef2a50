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

/** A sentence for each server with a message, after the age of the answers. */
export const remarksOn = ({ servers, askedAt, message }: SubdomainAnswers): readonly string[] =>
  [
    message === undefined
      ? []
      : `these answers are of ${askedAt ?? 'an unknown time'}; since then: ${message}`,
    ...servers.map((server) => {
      const status = isFaulty(server) ? `${server.status}, ` : '';
      return server.message === null ? [] : `${serverName(server)}: ${status}${server.message}`;
    }),
  ]
    .flat()
    .map(escapeControl);

/** A server's answer on the left, what the service shows on the right. Equal answers of several servers are one row. */
export const rowsOfAnswers = (
  { servers, differences }: SubdomainAnswers,
  subdomain: string,
): readonly ReportRow[] => {
  const labelOf = serverLabels(servers);
  const rows = groupBy(differences, (one) => JSON.stringify({ ...one, server: '', address: '' }));
  return [...rows.values()].map((alike) => {
    const { kind, desired, current, message, ...of } = alike[0]!;
    const [actual, wanted] = [current, desired].map((records) => asOne(records, of, subdomain));
    const labels = alike.map(({ server, address }) => labelOf({ name: server, address }));
    return {
      ...rowBetween(kind, kind === 'missing' ? null : actual!, wanted!),
      why: [...new Set(labels)].map(escapeControl),
      notes: message === undefined ? [] : [escapeControl(message)],
    };
  });
};

/** All records of a set as one. */
const asOne = (
  records: readonly RecordData[],
  { name, type }: Pick<AnswerDifference, 'name' | 'type'>,
  subdomain: string,
): RecordData => {
  const below = `.${subdomain}`;
  const relative = name.endsWith(below) ? name.slice(0, -below.length) : name;
  const contents = records.map(({ content, priority }) => [priority ?? [], content].flat().join(' '));
  return {
    type,
    name: name === subdomain ? null : relative,
    content: contents.sort().join(', '),
    priority: null,
    ttl: records[0]?.ttl ?? null,
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
