import { nameAt, type RecordCheck } from './check.ts';
import { hasPlaceholder, nameLabelsOf, octetsOf } from './hosts.ts';
import type { RecordDraft } from '../record-draft.ts';

/**
 * The largest TXT data that still fits into one DNS message of 65,535 octets: a header of 12, a question of at
 * most 259, 12 before the data itself (RFC 1035 §4).
 */
const maxTextData = 65_535 - 12 - 259 - 12;

export const isSpf = ({ canonical: { type, content } }: RecordDraft): boolean =>
  type === 'TXT' && /^v=spf1(?: |$)/i.test(content);

const txtLength: RecordCheck = {
  id: 'txt-length',
  find: ({ record: { type, content }, canonical, at }) => {
    if (type !== 'TXT') return [];
    const isQuoted = canonical.content !== content;
    const strings = isQuoted ? quotedStrings(content) : [];
    const long = strings.find((string) => octetsOf(string) > 255);
    if (long !== undefined) {
      const message = `one quoted string of the text has ${octetsOf(long)} octets; 255 are allowed: split it in several, "..." "..."`;
      return [{ at: at.content, message }];
    }
    const octets = octetsOf(canonical.content);
    const data = octets + Math.max(strings.length, Math.ceil(octets / 255));
    const message = `a text of ${octets} octets does not fit into a DNS message`;
    return data > maxTextData ? [{ at: at.content, message }] : [];
  },
};

/** The strings of a content in presentation format, with one letter for each escape. */
const quotedStrings = (content: string): string[] =>
  [...content.matchAll(/"((?:[^"\\]|\\[^])*)"/g)].map(([, text]) => text!.replace(/\\(?:\d{3}|[^])/g, 'x'));

const spfOpen: RecordCheck = {
  id: 'spf-open',
  find: (draft) => {
    if (!isSpf(draft) || hasPlaceholder(draft.canonical.content)) return [];
    const isClosed = /\s(?:[+?~-]?all|redirect=\S+)(?:\s|$)/i.test(draft.canonical.content);
    const message = 'this SPF ends with neither `all` nor `redirect=`: it says nothing about other senders';
    return isClosed ? [] : [{ at: draft.at.content, message }];
  },
};

const dmarcPlace: RecordCheck = {
  id: 'dmarc-place',
  find: (draft) => {
    const { type, name, content } = draft.canonical;
    if (type !== 'TXT' || !/^v=DMARC1(?:[\s;]|$)/i.test(content) || hasPlaceholder(name)) return [];
    const message = 'a DMARC policy is looked for at `_dmarc`, nowhere else';
    return nameLabelsOf(name).includes('_dmarc') ? [] : [{ at: nameAt(draft), message }];
  },
};

export const textChecks: readonly RecordCheck[] = [txtLength, spfOpen, dmarcPlace];
