import { readFileSync } from 'node:fs';
import path from 'node:path';
import { domainToASCII } from 'node:url';
import type { Place, RecordData } from '../../src/model/record.ts';
import type { Report, SubdomainResult, Summary, TemplateResult } from '../../src/result.ts';
import { formatRecord, usualTtl } from './records.ts';
import type { SeenWrite } from './service.ts';

/** One of any kind. */
interface Difference {
  readonly action: TemplateResult['differences'][number]['action'];
  readonly recordId?: number;
  readonly current?: RecordData;
  readonly desired?: RecordData;
  readonly fields?: readonly (keyof RecordData)[];
  readonly cause?: string;
  readonly reason?: string;
  readonly conflicts?: readonly number[];
  readonly retryAt?: string;
  readonly outcome?: string;
  readonly skippedBy?: string;
  readonly source?: Place;
}

/**
 * A report and the writes that arrived during its pass, a line each: of each template what was written, in the order of
 * arrival, then what was not; then how each template is. What goes without saying is said only where it is otherwise: that what arrived
 * is reported as applied, that a place is that of its record, that counts agree with what they count.
 */
export const reportLines = (report: Report, writes: readonly SeenWrite[], cwd: string): string[] => {
  const isOne = report.templates.length === 1;
  const labelOf = ({ client, template }: TemplateResult): string => {
    if (isOne) return '';
    return client === 'default' ? `${template} ` : `${client}/${template} `;
  };
  const lines = writes
    .filter(({ templateId }) => report.templates.every(({ id }) => id !== templateId))
    .map((write) => `${sentLine(write)} UNREPORTED`);
  for (const template of report.templates) {
    const label = labelOf(template);
    const rest = [...template.differences];
    for (const write of writes.filter(({ templateId }) => templateId === template.id)) {
      const at = rest.findIndex((difference) => isOf(difference, write));
      const [difference] = at < 0 ? [] : rest.splice(at, 1);
      const said = difference ? remarks(difference, cwd, 'applied') : ' UNREPORTED';
      lines.push(`${label}${sentLine(write, difference?.action)}${said}`);
    }
    const planned = rest.map((one) => [plannedLine(one), remarks(one, cwd, undefined)] as const);
    lines.push(...folded(planned).map((line) => label + line));
    for (const one of template.subdomains) lines.push(...subdomainLines(one).map((line) => label + line));
  }
  for (const problem of report.problems) lines.push(problemLine(problem));
  for (const { template, hadFile } of report.unmanaged ?? [])
    lines.push(`no file ${template}${hadFile ? ' since' : ''}`);
  for (const template of report.templates) lines.push(labelOf(template) + statusLine(template));
  if (!isOne || report.status !== report.templates[0]?.status) lines.push(report.status);
  return [...lines, ...wrongCounts(report)];
};

/** Very many of one kind, of which the same is said, are one line. */
const folded = (planned: readonly (readonly [line: string, said: string])[]): string[] => {
  const kindOf = ([line, said]: readonly [string, string]): string => `${line.split(' ')[0]} …${said}`;
  const counts = new Map<string, number>();
  for (const one of planned) counts.set(kindOf(one), (counts.get(kindOf(one)) ?? 0) + 1);
  const isMany = (one: readonly [string, string]): boolean => counts.get(kindOf(one))! > 50;
  return [
    ...planned.filter((one) => !isMany(one)).map((one) => one.join('')),
    ...[...counts].filter(([, count]) => count > 50).map(([kind, count]) => `${count} ${kind}`),
  ];
};

/** Sent is what the wire carried: for an update the parameters. */
export const sentLine = ({ parameters, before }: SeenWrite, action?: string): string => {
  const { name, content, priority, ttl, type } = parameters;
  if (before === null && parameters['record_id'] === undefined)
    return `+ ${formatRecord({ type: type ?? '', name: name ?? null, content: content ?? '', priority: priority === undefined ? null : Number(priority), ttl: ttl ?? null })}`;
  const changes = Object.entries({ name, priority, ttl, content }).flatMap(([key, value]) =>
    value === undefined ? [] : `${key}=${value}`,
  );
  const sign = action === 'park' ? '»' : '~';
  return `${sign} #${parameters['record_id']} ${before?.name ?? '@'} ${before?.type ?? '?'} ${changes.join(' ')}`;
};

const isOf = ({ action, desired, recordId }: Difference, { operation, parameters }: SeenWrite): boolean => {
  if (operation === 'update')
    return (action === 'update' || action === 'park') && String(recordId) === parameters['record_id'];
  return (
    action === 'add' &&
    desired !== undefined &&
    desired.type === parameters['type'] &&
    (desired.type === 'TXT' ? desired.content : asLabels(desired.content)) === parameters['content'] &&
    (desired.name === null ? undefined : asLabels(desired.name)) === parameters['name'] &&
    (desired.priority ?? undefined)?.toString() === parameters['priority']
  );
};

/** Labels with non-ASCII letters are sent as A-labels. */
const asLabels = (text: string): string =>
  text.replaceAll(/[^\s.]*[^\0-\x7f][^\s.]*/g, (label) => domainToASCII(label) || label);

const plannedLine = ({
  action,
  recordId,
  current,
  desired,
  fields,
  reason,
  conflicts = [],
}: Difference): string => {
  switch (action) {
    case 'add':
      return `+ ${formatRecord(desired!)}`;
    case 'update':
    case 'park': {
      const changes = (['name', 'priority', 'ttl', 'content'] as const).flatMap((key) =>
        (fields ?? []).includes(key) ||
        (action === 'park' && desired![key] !== null && desired![key] !== current![key])
          ? `${key}=${desired![key]}`
          : [],
      );
      return `${action === 'park' ? '»' : '~'} #${recordId} ${current!.name ?? '@'} ${current!.type} ${changes.join(' ')}`;
    }
    case 'surplus':
      return `? #${recordId} ${formatRecord(current!, usualTtl)}${reason === 'unlisted' ? '' : ` ${reason}`}`;
    case 'blocked': {
      const id = recordId === undefined ? '' : `#${recordId} `;
      const beside = conflicts.length === 0 ? '' : ` beside ${conflicts.map((one) => `#${one}`).join(' ')}`;
      return `! ${id}${formatRecord(desired!)} ${reason}${beside}`;
    }
  }
};

/** Cause, outcome where it is not the usual one, the next try, and a place that is not the one of the record. */
const remarks = (
  { cause, outcome, skippedBy, retryAt, source, desired }: Difference,
  cwd: string,
  usual: string | undefined,
): string =>
  [
    cause === undefined || cause === 'unknown' ? '' : ` [${cause}]`,
    outcome === usual ? '' : ` ${outcome ?? 'no outcome'}${skippedBy === undefined ? '' : ` (${skippedBy})`}`,
    retryAt === undefined ? '' : ' retry',
    source === undefined || isPlaceOf(source, desired, cwd)
      ? ''
      : ` at ${source.file}:${source.line}:${source.column}`,
  ].join('');

const isPlaceOf = ({ file, line }: Place, desired: RecordData | undefined, cwd: string): boolean => {
  const text = readFileSync(path.join(cwd, file), 'utf8').split('\n')[line - 1] ?? '';
  return text.includes(desired?.name ?? 'content') && text.includes(desired?.content.split(' ').at(-1) ?? '');
};

const subdomainLines = ({ subdomain, status, differences }: SubdomainResult): string[] => [
  ...differences.map(({ kind, templateRecord, record, fields }) => {
    const shown = record ?? templateRecord!;
    const of = fields.length === 0 ? '' : ` ${fields.join(' ')}`;
    return `${kind} ${subdomain} #${shown.id} ${formatRecord(shown, usualTtl)}${of}`;
  }),
  ...(status === 'in-sync' ? [] : [`${status} ${subdomain}`]),
];

export const problemLine = ({ severity, check, file, line, column }: Report['problems'][number]): string =>
  `${severity} ${check}${file === null ? '' : ` ${file}`}${line === null ? '' : `:${line}:${column}`}`;

const statusLine = ({ status, inSync, parked, ignored, retryAt, asOf, id }: TemplateResult): string =>
  [
    `${status} ${inSync}`,
    parked === 0 ? '' : `, ${parked} parked`,
    ignored === 0 ? '' : `, ${ignored} ignored`,
    retryAt === undefined ? '' : ', retry',
    asOf === undefined ? '' : `, as of ${asOf === null ? 'never' : 'before'}`,
    id === null ? ', no id' : '',
  ].join('');

/** Counts that are not those of what they count. */
const wrongCounts = ({ summary, templates }: Report): string[] => {
  const all = templates.flatMap(({ differences }) => differences);
  const open = all.filter(({ outcome }) => outcome !== 'applied');
  const count = (action: Difference['action']): number => open.filter((one) => one.action === action).length;
  const having = (status: string): number => templates.filter((one) => one.status === status).length;
  const expected: Readonly<Partial<Record<keyof Summary, number>>> = {
    templates: templates.length,
    inSync: templates.reduce((sum, one) => sum + one.inSync, 0),
    add: count('add'),
    update: count('update'),
    park: count('park'),
    surplus: count('surplus'),
    blocked: count('blocked'),
    applied: all.length - open.length,
    // Those that wait for time alone are told apart.
    heldTemplates: templates.filter((one) => one.status === 'held' && one.retryAt === undefined).length,
    failedTemplates: having('failed'),
    suspendedTemplates: having('suspended'),
    subdomainDifferences: templates
      .flatMap(({ subdomains }) => subdomains)
      .reduce((sum, one) => sum + one.differences.length, 0),
  };
  const counts: Readonly<Record<string, unknown>> = summary;
  return Object.entries(expected).flatMap(([key, value]) =>
    counts[key] === value ? [] : `COUNT ${key} is ${String(counts[key])}, not ${value}`,
  );
};
