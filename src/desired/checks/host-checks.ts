import { definitionOf } from '../../model/types/table.ts';
import type { RecordDraft } from '../record-draft.ts';
import { quote } from '../fault.ts';
import { nameAt, type Complaint, type RecordCheck } from './check.ts';
import { hasControlCharacter, octetsOf } from './hosts.ts';

const badHost: RecordCheck = {
  id: 'bad-host',
  find: (draft) => [...badName(draft), ...badTarget(draft)],
};

const badName = (draft: RecordDraft): Complaint[] => {
  const { name } = draft.hosts;
  if (name === null) return [];
  const { isNameLabel } = definitionOf(draft.record.type);
  const wrong = name.labels.find((label) => label !== '' && !label.includes('*') && !isNameLabel(label));
  return wrong === undefined
    ? []
    : [{ at: nameAt(draft), message: `${quote(draft.record.name!)} is no name: ${why(wrong)}` }];
};

const badTarget = (draft: RecordDraft): Complaint[] => {
  const { type, content } = draft.record;
  const rules = definitionOf(type).target;
  const at = draft.at.content;
  const { target, host } = draft.hosts;
  if (rules === null) return [];
  if (target === '.') return rules.mayBeRoot ? [] : [{ at, message: `a ${type} cannot point at \`.\`` }];
  if (host === null || hasControlCharacter(host.text)) return [];
  const mistake = rules.mistake(content);
  if (mistake !== null) return [{ at, message: mistake }];
  const { text, labels } = host;
  const wrong = labels.find((label) => label !== '' && !rules.isLabel(label));
  if (wrong !== undefined) return [{ at, message: `${quote(text)} is no host name: ${why(wrong)}` }];
  if (labels.length > 1 && /^\d+$/.test(labels.at(-1)!)) {
    return [
      {
        at,
        message: `${quote(text)} is neither a host name, for it ends in a number, nor a whole address`,
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
  find: (draft) =>
    eachName(draft, (name, labels) => {
      if (labels.includes('')) return `${quote(name)} has an empty label: two dots, or one at the start`;
      const long = labels.find((label) => octetsOf(label) > 63);
      return long === undefined
        ? null
        : `the label ${quote(long)} has ${octetsOf(long)} octets; 63 are allowed`;
    }),
};

const nameLength: RecordCheck = {
  id: 'name-length',
  find: (draft) =>
    eachName(draft, (_, labels) => {
      const octets = octetsOf(labels.join('.'));
      return octets <= 253 ? null : `the name has ${octets} octets; 253 are allowed`;
    }),
};

const wildcard: RecordCheck = {
  id: 'wildcard',
  find: (draft) => {
    const { name } = draft.hosts;
    const isWrong = name?.labels.some((label, index) => label.includes('*') && (index > 0 || label !== '*'));
    return name && isWrong
      ? [
          {
            at: nameAt(draft),
            message: `in ${quote(name.text)} the star is not the whole first label; a wildcard is \`*\` or \`*.name\``,
          },
        ]
      : [];
  },
};

const singleLabelTarget: RecordCheck = {
  id: 'single-label-target',
  find: (draft) => {
    const { host } = draft.hosts;
    return host === null || host.labels.length > 1
      ? []
      : [
          {
            at: draft.at.content,
            message: `the target ${quote(host.text)} is a single label; a whole host name is meant to stand here`,
          },
        ];
  },
};

/** Both names of a record, unless they are placeholders or addresses. */
const eachName = (
  draft: RecordDraft,
  complain: (name: string, labels: readonly string[]) => string | null,
): Complaint[] => {
  const { name, host } = draft.hosts;
  const ofName = name === null ? null : complain(name.text, name.labels);
  const ofTarget = host === null ? null : complain(host.text, host.labels);
  return [
    ...(ofName === null ? [] : [{ at: nameAt(draft), message: ofName }]),
    ...(ofTarget === null ? [] : [{ at: draft.at.content, message: ofTarget }]),
  ];
};

export const hostChecks: readonly RecordCheck[] = [
  badHost,
  labelLength,
  nameLength,
  wildcard,
  singleLabelTarget,
];
