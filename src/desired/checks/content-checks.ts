import { isIPv4 } from 'node:net';
import { canonicalIPv6 } from '../../model/ipv6.ts';
import { hasPriority } from '../../model/record.ts';
import { quote } from '../fault.ts';
import { maxUnsigned16 } from '../schema.ts';
import { nameAt, type RecordCheck } from './check.ts';
import { hasControlCharacter, hasPlaceholder, isAddress } from './hosts.ts';

const emptyContent: RecordCheck = {
  id: 'empty-content',
  find: ({ record, at }) =>
    record.content === '' ? [{ at: at.content, message: '`content` is empty' }] : [],
};

const badIPv4: RecordCheck = {
  id: 'bad-ipv4',
  find: ({ record: { type, content }, at }) => {
    if (type !== 'A' || content === '' || isIPv4(content)) return [];
    const hint = isAddress(content) ? '; an IPv6 address belongs in an AAAA record' : '';
    return [{ at: at.content, message: `${quote(content)} is no IPv4 address${hint}` }];
  },
};

const badIPv6: RecordCheck = {
  id: 'bad-ipv6',
  find: ({ record: { type, content }, at }) => {
    if (type !== 'AAAA' || content === '' || canonicalIPv6(content) !== null) return [];
    const hint = isIPv4(content) ? '; an IPv4 address belongs in an A record' : '';
    return [{ at: at.content, message: `${quote(content)} is no IPv6 address${hint}` }];
  },
};

const addressAsHost: RecordCheck = {
  id: 'address-as-host',
  find: (draft) => {
    const { target } = draft.hosts;
    return target === null || !isAddress(target)
      ? []
      : [
          {
            at: draft.at.content,
            message: `${draft.record.type} points at a host name, and ${quote(target)} is an address`,
          },
        ];
  },
};

const cnameApex: RecordCheck = {
  id: 'cname-apex',
  find: ({ record: { type, name }, at }) =>
    type === 'CNAME' && name === null
      ? [
          {
            at: at.record,
            message: 'a CNAME cannot stand at the subdomain itself, beside its NS and SOA records',
          },
        ]
      : [],
};

const nameRequired: RecordCheck = {
  id: 'name-required',
  find: (draft) =>
    draft.record.name === null && (draft.record.type === 'PTR' || draft.record.type === 'SRV')
      ? [{ at: nameAt(draft), message: `the ${draft.record.type} record needs a \`name\`` }]
      : [],
};

const priorityRequired: RecordCheck = {
  id: 'priority-required',
  find: ({ record: { type }, fields, at }) =>
    hasPriority(type) && !fields.has('priority')
      ? [{ at: at.entry, message: `the ${type} record needs a \`priority\`` }]
      : [],
};

const priorityNotApplicable: RecordCheck = {
  id: 'priority-not-applicable',
  find: ({ record: { type }, fields }) => {
    const priority = fields.get('priority');
    return priority === undefined || hasPriority(type)
      ? []
      : [{ at: priority, message: `only MX and SRV records have a \`priority\`, ${type} records have none` }];
  },
};

const srvContent: RecordCheck = {
  id: 'srv-content',
  find: ({ record: { type, content }, at }) => {
    if (type !== 'SRV' || content === '') return [];
    const [weight, port, target, ...more] = content.split(' ');
    const isInOrder = isUnsigned16(weight) && isUnsigned16(port) && Boolean(target) && more.length === 0;
    const message = `${quote(content)} is not \`<weight> <port> <target>\` with numbers from 0 to ${maxUnsigned16}`;
    return isInOrder ? [] : [{ at: at.content, message }];
  },
};

const isUnsigned16 = (part: string | undefined): boolean =>
  part !== undefined && /^\d{1,5}$/.test(part) && Number(part) <= maxUnsigned16;

const srvName: RecordCheck = {
  id: 'srv-name',
  find: (draft) => {
    const { type, name } = draft.record;
    if (type !== 'SRV' || name === null || hasPlaceholder(name)) return [];
    const message = `clients ask for an SRV record by \`_service._protocol\`, not by ${quote(name)}`;
    return /^_[^.]+\._[^.]+(?:\.|$)/.test(name) ? [] : [{ at: nameAt(draft), message }];
  },
};

const controlCharacter: RecordCheck = {
  id: 'control-character',
  find: (draft) => {
    const { name, content } = draft.record;
    const endsInBreak = /^[^\n]*\n$/.test(content)
      ? ': it ends with a line break; write `>-` or `|-`, or quote it'
      : '';
    return [
      ...(name !== null && hasControlCharacter(name)
        ? [{ at: nameAt(draft), message: `the name ${quote(name)} holds a control character` }]
        : []),
      ...(hasControlCharacter(content)
        ? [
            {
              at: draft.at.content,
              message: `the content ${quote(content)} holds a control character${endsInBreak}`,
            },
          ]
        : []),
    ];
  },
};

export const contentChecks: readonly RecordCheck[] = [
  emptyContent,
  badIPv4,
  badIPv6,
  addressAsHost,
  cnameApex,
  nameRequired,
  priorityRequired,
  priorityNotApplicable,
  srvContent,
  srvName,
  controlCharacter,
];
