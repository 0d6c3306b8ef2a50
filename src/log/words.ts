import { escapeControl, shortText } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';

/** One line of the log. */
export type Line = Readonly<Record<string, unknown>>;

/** A log line for people: time of day, level, client and what happened. Further lines are indented. */
export const inWords = (line: Line): string => {
  const { time, level, client, event, err, msg, problems, ...others } = line;
  const label = typeof level === 'string' && level !== 'info' ? `${level.toUpperCase()} ` : '';
  const text = formatters[String(event)]?.(line) ?? listed([msg, fieldsOf(err)['message'], ...named(others)]);
  const lines = [...text.split('\n'), ...linesOf(problems).map(ofProblem)].map(escapeControl);
  return `${said(time).slice(-8)} ${label}${who(client)}${lines.join('\n         ')}`;
};

/** The default client needs no name. */
const who = (client: unknown): string =>
  client === undefined || client === 'default' ? '' : `${said(client)}: `;

/** Where a line was cut, fields are missing. */
const formatters: Readonly<Record<string, (line: Line) => string>> = {
  'daemon.started': ({ clients, listen }) =>
    [
      `daemon started, ${listen === null ? 'no status page' : `status page ${said(listen)}/`}`,
      ...linesOf(clients).map(
        ({ client, baseUrl, schedule }) => `${who(client)}${said(baseUrl)}, schedule ${said(schedule)}`,
      ),
    ].join('\n'),
  'pass.started': ({ trigger }) => `pass started by ${said(trigger)}`,
  'change.applied': (line) => `applied ${ofChange(line)}`,
  'change.failed': (line) => `failed ${ofChange(line)}: ${said(line['error'])}`,
  'change.unknown': (line) => `unknown ${ofChange(line)}: ${said(line['error'])}`,
  'drift.report': ({ template, status, message, inSync, differences, more }) => {
    const left = linesOf(differences).filter(({ outcome }) => outcome !== 'applied');
    const unnamed = left.length - maxShown + Number(more ?? 0);
    return listed([
      `${said(template)}: ${inPlain(status)}`,
      message,
      `${said(inSync)} in sync`,
      ...left.slice(0, maxShown).map(ofDifference),
      unnamed > 0 ? `and ${unnamed} more differences` : null,
    ]);
  },
  'pass.finished': ({ status, durationMs, summary, error }) => {
    const { templates, inSync, differing: _, ...counts } = fieldsOf(summary);
    const found = [plural(Number(templates), 'template'), `${said(inSync)} in sync`, ...named(counts)];
    const line = listed([`pass finished: ${inPlain(status)}`, ...found, ...named({ durationMs })]);
    return error === undefined || error === null ? line : `${line}\n${said(error)}`;
  },
  'templates.invalid': () => 'invalid template files:',
  notice: ({ notice }) => said(notice),
};

/** As a cause, `drifted` means that the service changed; as a status that anything differs. */
const inPlain = (status: unknown): string => (status === 'drifted' ? 'differs' : said(status));

/** Reports and the page have all. */
const maxShown = 5;

const ofProblem = ({ file, line, column, message, check }: Line): string =>
  listed([file, line, column, ` ${said(message)} [${said(check)}]`], ':').trim();

const ofChange = ({ action, template, recordId, before, after }: Line): string => {
  const id = recordId === null || recordId === undefined ? '' : ` #${said(recordId)}`;
  return `${said(action)} ${said(template)}${id}: ${linesOf([before, after]).map(ofRecord).join(' → ')}`;
};

const ofDifference = ({ action, reason, desired, current }: Line): string =>
  listed([action, reason, ofRecord(fieldsOf(desired ?? current))], ' ');

const ofRecord = ({ type, name, content, priority, ttl }: Line): string =>
  listed([name ?? '@', type, priority, content, ...named({ ttl })], ' ');

const listed = (parts: readonly unknown[], between = ', '): string =>
  parts
    .filter((part) => part !== null && part !== undefined)
    .map(said)
    .join(between);

/** Fields with their names. Those that say nothing are left out. */
const named = (fields: Line): readonly string[] =>
  Object.entries(fields).flatMap(([name, value]) => {
    if (name === 'durationMs') return [`${(Number(value) / 1_000).toFixed(1)} s`];
    const text = value === 0 ? '' : said(value ?? '');
    const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return text === '' ? [] : [`${words} ${text}`];
  });

/** Any value. A text is shortened, so that what comes after it is in the line too; times are those of this machine. */
const said = (value: unknown): string => {
  if (Array.isArray(value)) return shortText(value.map(said).join('; '), 400);
  if (isFields(value)) return shortText(named(value).join(' '), 400);
  const text = String(value);
  return isTime.test(text) ? new Date(text).toLocaleString('sv-SE') : shortText(text, 400);
};

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

const isFields = (value: unknown): value is Line => typeof value === 'object' && value !== null;

const fieldsOf = (value: unknown): Line => (isFields(value) ? value : {});

const linesOf = (value: unknown): readonly Line[] => (Array.isArray(value) ? value.filter(isFields) : []);
