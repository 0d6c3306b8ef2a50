import { definitionOf } from '../../model/types/table.ts';
import type { ResolvedRecord } from '../resolve-record.ts';
import { quote } from '../diagnostic.ts';
import { nameAt, type CheckDiagnostic, type RecordCheck } from './check.ts';
import { hasControlCharacter, octetsOf } from './hosts.ts';

const badHost: RecordCheck = {
  id: 'bad-host',
  find: (record) => [...badName(record), ...badTarget(record)],
};

const badName = (record: ResolvedRecord): CheckDiagnostic[] => {
  const { name } = record.hosts;
  if (name === null) return [];
  const { isNameLabel } = definitionOf(record.desired.type);
  const wrong = name.labels.find((label) => label !== '' && !label.includes('*') && !isNameLabel(label));
  return wrong === undefined
    ? []
    : [{ at: nameAt(record), message: `${quote(record.desired.name!)} is not a name: ${why(wrong)}` }];
};

const badTarget = (record: ResolvedRecord): CheckDiagnostic[] => {
  const { type, content } = record.desired;
  const rules = definitionOf(type).target;
  const at = record.at.content;
  const { target, host } = record.hosts;
  if (rules === null) return [];
  if (target === '.') return rules.mayBeRoot ? [] : [{ at, message: `a ${type} cannot point at \`.\`` }];
  if (host === null || hasControlCharacter(host.text)) return [];
  const mistake = rules.mistake(content);
  if (mistake !== null) return [{ at, message: mistake }];
  const { text, labels } = host;
  const wrong = labels.find((label) => label !== '' && !rules.isLabel(label));
  const [, inUrl] = /^[a-z]+:\/\/([^/:]+)/.exec(text) ?? [];
  const reason = inUrl === undefined ? wrong && why(wrong) : `write its host alone, ${quote(inUrl)}`;
  if (reason !== undefined) return [{ at, message: `${quote(text)} is not a host name: ${reason}` }];
  if (labels.length > 1 && /^\d+$/.test(labels.at(-1)!)) {
    return [
      {
        at,
        message: `${quote(text)} is neither a host name, since it ends in a number, nor a complete address`,
      },
    ];
  }
  return [];
};

const why = (label: string): string =>
  /^-|-$/.test(label)
    ? `${quote(label)} begins or ends with a hyphen`
    : `${quote(label)} holds more than letters, digits and hyphens`;

const labelLength: RecordCheck = {
  id: 'label-length',
  find: (record) =>
    eachName(record, (name, labels) => {
      if (labels.includes('')) return `${quote(name)} has an empty label: two dots, or one at the start`;
      const long = labels.find((label) => octetsOf(label) > 63);
      return long === undefined
        ? null
        : `the label ${quote(long)} has ${octetsOf(long)} octets; 63 are allowed`;
    }),
};

const nameLength: RecordCheck = {
  id: 'name-length',
  find: (record) =>
    eachName(record, (_, labels) => {
      const octets = octetsOf(labels.join('.'));
      return octets <= 253 ? null : `the name has ${octets} octets; 253 are allowed`;
    }),
};

const wildcard: RecordCheck = {
  id: 'wildcard',
  find: (record) => {
    const { name } = record.hosts;
    const isWrong = name?.labels.some((label, index) => label.includes('*') && (index > 0 || label !== '*'));
    return name && isWrong
      ? [
          {
            at: nameAt(record),
            message: `in ${quote(name.text)} the star is not the whole first label; a wildcard is \`*\` or \`*.name\``,
          },
        ]
      : [];
  },
};

const singleLabelTarget: RecordCheck = {
  id: 'single-label-target',
  find: (record) => {
    const { host } = record.hosts;
    return host === null || host.labels.length > 1 || host.text === '@'
      ? []
      : [
          {
            at: record.at.content,
            message: `the target ${quote(host.text)} is a single label; write the full host name`,
          },
        ];
  },
};

/** Checks both names of a record, unless they are placeholders or addresses. */
const eachName = (
  record: ResolvedRecord,
  complain: (name: string, labels: readonly string[]) => string | null,
): CheckDiagnostic[] => {
  const { name, host } = record.hosts;
  const ofName = name === null ? null : complain(name.text, name.labels);
  const ofTarget = host === null ? null : complain(host.text, host.labels);
  return [
    ...(ofName === null ? [] : [{ at: nameAt(record), message: ofName }]),
    ...(ofTarget === null ? [] : [{ at: record.at.content, message: ofTarget }]),
  ];
};

export const hostChecks: readonly RecordCheck[] = [
  badHost,
  labelLength,
  nameLength,
  wildcard,
  singleLabelTarget,
];
