import { isAddress } from '../../model/address.ts';
import { hasPriority, recordTypes, type RecordType } from '../../model/record.ts';
import type { TypeCheck } from '../../model/types/definition.ts';
import { definitionOf, definitions } from '../../model/types/table.ts';
import type { CheckId } from '../check-id.ts';
import { quote } from '../diagnostic.ts';
import { nameAt, type RecordCheck } from './check.ts';
import { hasControlCharacter } from './hosts.ts';

const emptyContent: RecordCheck = {
  id: 'empty-content',
  find: ({ desired, at }) =>
    desired.content === '' ? [{ at: at.content, message: '`content` is empty' }] : [],
};

/** The checks that a record type defines for its own names and contents. */
const typeChecksOf = (type: RecordType): RecordCheck[] => {
  const { checks }: { readonly checks: readonly (TypeCheck & { readonly id: CheckId })[] } =
    definitions[type];
  return checks.map(({ id, at, find }): RecordCheck => ({
    id,
    find: (record) => {
      const { name, content } = record.desired;
      const message = content === '' ? null : find({ name, content, canonical: record.canonical }, quote);
      return message === null ? [] : [{ at: at === 'name' ? nameAt(record) : record.at.content, message }];
    },
  }));
};

const addressAsHost: RecordCheck = {
  id: 'address-as-host',
  find: (record) => {
    const { target } = record.hosts;
    return target === null || !isAddress(target)
      ? []
      : [
          {
            at: record.at.content,
            message: `${record.desired.type} points at a host name, and ${quote(target)} is an address: give it a name with an A or AAAA record, and write that`,
          },
        ];
  },
};

const cnameApex: RecordCheck = {
  id: 'cname-apex',
  find: ({ desired: { type, name }, at }) =>
    name === null && definitionOf(type).name === 'below-apex'
      ? [
          {
            at: at.record,
            message: `a ${type} cannot be at the subdomain itself, beside its NS and SOA records`,
          },
        ]
      : [],
};

const nameRequired: RecordCheck = {
  id: 'name-required',
  find: (record) =>
    record.desired.name === null && definitionOf(record.desired.type).name === 'required'
      ? [{ at: nameAt(record), message: `the ${record.desired.type} record needs a \`name\`` }]
      : [],
};

const priorityRequired: RecordCheck = {
  id: 'priority-required',
  find: ({ desired: { type, content }, fields, at, allow }) =>
    hasPriority(type) && !fields.has('priority') && !(allow.size === 0 && priorityBefore.test(content))
      ? [{ at: at.entry, message: `the ${type} record needs a \`priority\`` }]
      : [],
};

/** MX and SRV as in zone files: the check of the content says what to do. */
const priorityBefore = /^\d+\s+(?:\d+\s+\d+\s+)?\S+$/;

const typesWithPriority = recordTypes.filter(hasPriority).join(' and ');

const priorityNotApplicable: RecordCheck = {
  id: 'priority-not-applicable',
  find: ({ desired: { type }, fields }) => {
    const priority = fields.get('priority');
    return priority === undefined || hasPriority(type)
      ? []
      : [
          {
            at: priority,
            message: `only ${typesWithPriority} records have a \`priority\`, ${type} records have none`,
          },
        ];
  },
};

const controlCharacter: RecordCheck = {
  id: 'control-character',
  find: (record) => {
    const { name, content } = record.desired;
    const endsInBreak = /^[^\n]*\n$/.test(content)
      ? ': it ends with a line break; write `>-` or `|-`, or quote it'
      : '';
    return [
      ...(name !== null && hasControlCharacter(name)
        ? [{ at: nameAt(record), message: `the name ${quote(name)} holds a control character` }]
        : []),
      ...(hasControlCharacter(content)
        ? [
            {
              at: record.at.content,
              message: `the content ${quote(content)} holds a control character${endsInBreak}`,
            },
          ]
        : []),
    ];
  },
};

export const contentChecksOf = (type: RecordType): readonly RecordCheck[] => [
  emptyContent,
  ...typeChecksOf(type),
  addressAsHost,
  cnameApex,
  nameRequired,
  priorityRequired,
  priorityNotApplicable,
  controlCharacter,
];
