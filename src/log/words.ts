import { escapeControl, shortText } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import type { Line } from './redact.ts';

/** A log line for people: time of day, level, and what happened. Has no line feed. */
export const inWords = (line: Line, color: boolean): string => {
  const { time, level } = line;
  const label = typeof level === 'string' && level !== 'info' ? `${level.toUpperCase()} ` : '';
  const text = (formatters[String(line['event'])] ?? others)(line)
    .split('\n')
    .map(escapeControl)
    .join('\n         ');
  return `${paint(clockTime(String(time)), 90, color)} ${paint(label, colors[String(level)] ?? 33, color)}${text}`;
};

/** In this machine's time zone. */
const clockTime = (time: string): string => new Date(time).toTimeString().slice(0, 8);

const colors: Readonly<Record<string, number>> = { error: 31, fatal: 31, debug: 90, trace: 90 };

const paint = (text: string, code: number, color: boolean): string =>
  color && text !== '' ? `\u001B[${code}m${text}\u001B[39m` : text;

/* This program writes the fields, but a line may have been cut: missing fields are left out. */
type LogFields = Readonly<Record<string, unknown>>;

const formatters: Readonly<Record<string, (line: LogFields) => string>> = {
  'daemon.started': ({ clients, listen }) =>
    listOf(clients)
      .map(
        ({ baseUrl, schedule }) =>
          `daemon started on ${said(baseUrl)}, schedule ${said(schedule)}, ${listen === null ? 'no status page' : `status page ${said(listen)}/`}`,
      )
      .join('\n'),
  'pass.started': ({ trigger, client }) => `${who(client)}pass started by ${said(trigger)}`,
  'change.applied': (change) => `applied ${ofChange(change)}`,
  'change.failed': (change) => `failed ${ofChange(change)}: ${said(change['error'])}`,
  'change.unknown': (change) => `unknown ${ofChange(change)}: ${said(change['error'])}`,
  'drift.report': ({ client, template, status, message, inSync, differences }) =>
    [
      `${who(client)}${said(template)}: ${said(status)}`,
      ...(message === null ? [] : [said(message)]),
      `${said(inSync)} in sync`,
      ...unwritten(listOf(differences)),
    ].join(', '),
  'drift.ended': ({ client, template, was, since }) =>
    `${who(client)}${said(template)}: in sync again, was ${said(was)} since ${said(since)}`,
  'pass.finished': ({ client, status, durationMs, summary, error }) =>
    `${who(client)}pass finished: ${said(error ?? status)}, ${countsOf(fieldsOf(summary))}, ${said(durationMs)} ms`,
  'answers.report': ({ subdomain, answers }) =>
    [
      `${said(subdomain)}: name servers ${said(fieldsOf(answers)['status'])}`,
      ...listOf(fieldsOf(answers)['differences']).map(
        ({ kind, server, type, name }) => `${said(kind)} ${said(type)} ${said(name)} at ${said(server)}`,
      ),
    ].join(', '),
  'answers.finished': ({ subdomains, durationMs }) =>
    `name servers asked: ${Object.entries(fieldsOf(subdomains))
      .flatMap(([state, count]) => (count === 0 ? [] : [`${said(count)} ${state}`]))
      .join(', ')}, ${said(durationMs)} ms`,
  'templates.invalid': ({ problems }) => ofProblems(problems),
  'settings.refused': (line) =>
    line['problems'] === undefined ? others(line) : `${said(line['msg'])}\n${ofProblems(line['problems'])}`,
  notice: ({ client, notice }) => `${who(client)}${said(notice)}`,
};

const ofProblems = (problems: unknown): string =>
  listOf(problems)
    .map(({ file, line, column, message, check }) => {
      const place = [file, line, column].filter((part) => part !== null).map(said);
      return `${place.join(':')}${place.length > 0 ? ': ' : ''}${said(message)} [${said(check)}]`;
    })
    .join('\n');

const others = (line: LogFields): string => {
  const { msg, err, level: _, time: __, event: ___, ...rest } = line;
  const message = fieldsOf(err)['message'];
  return [
    said(msg),
    ...(message === undefined ? [] : [said(message)]),
    ...Object.entries(rest).map(([name, value]) => `${name} ${said(value)}`),
  ].join(', ');
};

/** The default client needs no name. */
const who = (client: unknown): string =>
  client === undefined || client === 'default' ? '' : `${said(client)}: `;

/** Shortened, so that what comes after it is in the line too. */
const said = (value: unknown): string =>
  shortText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''), 400);

const isFields = (value: unknown): value is LogFields => typeof value === 'object' && value !== null;

const fieldsOf = (value: unknown): LogFields => (isFields(value) ? value : {});

const listOf = (value: unknown): readonly LogFields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const ofChange = ({ client, action, template, recordId, before, after }: LogFields): string => {
  const id = recordId === null || recordId === undefined ? '' : ` #${said(recordId)}`;
  const sides = [before, after].filter(isFields).map(ofRecord);
  return `${who(client)}${said(action)} ${said(template)}${id}: ${sides.join(' → ')}`;
};

const ofRecord = ({ type, name, content, priority, ttl }: LogFields): string =>
  [name ?? '@', type, priority, content, ttl === null || ttl === undefined ? null : `ttl ${said(ttl)}`]
    .filter((part) => part !== null && part !== undefined)
    .map(said)
    .join(' ');

/** The first differences that were not written; reports and the page have all. */
const unwritten = (differences: readonly LogFields[]): readonly string[] => {
  const left = differences.filter(({ outcome }) => outcome !== 'applied');
  const more = left.length - maxShown;
  return [
    ...left.slice(0, maxShown).map(ofDifference),
    ...(more > 0 ? [`and ${more} more differences`] : []),
  ];
};

const maxShown = 5;

const ofDifference = ({ action, reason, desired, current }: LogFields): string =>
  [action, reason, ofRecord(fieldsOf(desired ?? current))]
    .filter((part) => part !== undefined && part !== '')
    .map(said)
    .join(' ');

const countsOf = ({ templates, inSync, ...counts }: LogFields): string =>
  [
    plural(Number(templates), 'template'),
    `${said(inSync)} in sync`,
    ...Object.entries(counts).flatMap(([name, count]) =>
      typeof count === 'number' && count > 0 && name !== 'differing'
        ? [`${countWords[name] ?? name} ${count}`]
        : [],
    ),
  ].join(', ');

const countWords: Readonly<Record<string, string>> = {
  suspendedTemplates: 'suspended',
  heldTemplates: 'held',
  failedTemplates: 'failed',
  subdomainDifferences: 'differences in subdomains',
};
