import { isSpf } from '../../model/text.ts';
import { kindOf } from '../../plan/conflict.ts';
import type { RecordDraft } from '../record-draft.ts';
import { placeOf, shownName, type NameCheck, type RecordComplaint } from './check.ts';

const cnameAlone: NameCheck = {
  id: 'cname-alone',
  find: (drafts) => {
    const aliases = drafts.filter((draft) => isAlias(draft) && !isAllowedApex(draft));
    const other = drafts.find((draft) => !isAlias(draft));
    return beside(aliases, other, 'a CNAME stands alone at its name');
  },
};

const nullMxAlone: NameCheck = {
  id: 'null-mx-alone',
  find: (drafts) => {
    const other = drafts.find(({ canonical }) => kindOf(canonical) === 'MX');
    const alone = drafts.filter(({ canonical }) => kindOf(canonical) === 'null MX');
    return beside(alone, other, 'an MX `.` says that there is no mail here');
  },
};

const spfTwice: NameCheck = {
  id: 'spf-twice',
  find: (drafts) => {
    const [first, ...others] = drafts.filter(isSpfText);
    return others
      .filter((other) => differ(first!, other))
      .map((draft) => ({
        draft,
        at: draft.at.content,
        message: `a second SPF text at ${shownName(draft)}; mail servers then refuse both (the first: ${placeOf(first!)})`,
      }));
  },
};

const mixedTtl: NameCheck = {
  id: 'mixed-ttl',
  find: (drafts) => {
    const first = new Map<string, RecordDraft>();
    const told = new Set<string>();
    return drafts.flatMap((draft) => {
      const { type, ttl } = draft.record;
      const before = first.get(type);
      if (ttl === null || told.has(type)) return [];
      if (before === undefined) first.set(type, draft);
      if (before === undefined || before.record.ttl === ttl) return [];
      told.add(type);
      const message = `the TTLs of one record set differ: ${ttl} here, ${before.record.ttl} at ${placeOf(before)}`;
      return [{ draft, at: draft.fields.get('ttl') ?? draft.at.record, message }];
    });
  },
};

/** Complains about each of those that must be alone: for another record, or for the first of themselves. */
const beside = (
  alone: readonly RecordDraft[],
  other: RecordDraft | undefined,
  rule: string,
): readonly RecordComplaint[] =>
  alone.flatMap((draft) => {
    const rival = other ?? alone[0];
    if (rival === undefined || !differ(rival, draft)) return [];
    const { record } = rival;
    const message = `${rule}, but at ${shownName(draft)} there is also ${record.type} (${placeOf(rival)})`;
    return [{ draft, at: draft.at.record, message }];
  });

/** Who lets a CNAME stand beside NS and SOA lets it stand beside others: the service does something of its own there. */
const isAllowedApex = ({ record, allow }: RecordDraft): boolean =>
  record.name === null && allow.has('cname-apex');

const isAlias = ({ canonical }: RecordDraft): boolean => kindOf(canonical) === 'CNAME';

const isSpfText = ({ canonical: { type, content } }: RecordDraft): boolean =>
  type === 'TXT' && isSpf(content);

/** Copies are told by another check. */
const differ = ({ canonical: one }: RecordDraft, { canonical: other }: RecordDraft): boolean =>
  one.type !== other.type || one.content !== other.content || one.priority !== other.priority;

export const nameChecks: readonly NameCheck[] = [cnameAlone, nullMxAlone, spfTwice, mixedTtl];
