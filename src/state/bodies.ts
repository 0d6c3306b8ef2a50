import type { RecordData } from '../model/record.ts';
import type { Entry, HistoryEntry, NewEntry, SavedRecord } from './memory.ts';

/**
 * How rows are written in both stores: as JSON, without what the reader knows anyway, since after a first pass there is a row
 * of each kind for every record. What is written in full is read as well.
 */
export const recordText = ({ wanted, seen, stored, ...rest }: SavedRecord): string =>
  JSON.stringify({
    ...rest,
    wanted: differing(wanted, blank),
    ...(seen && { seen: differing(seen, wanted) }),
    ...(stored && { stored: { ...stored, sent: differing(stored.sent, wanted) } }),
  });

export const recordIn = (text: string): SavedRecord => {
  const { wanted, seen, stored, ...rest } = parse<SavedRecord>(text);
  const whole = { ...blank, ...wanted };
  return {
    ...rest,
    wanted: whole,
    ...(seen && { seen: { ...whole, ...seen } }),
    ...(stored && { stored: { ...stored, sent: { ...whole, ...stored.sent } } }),
  };
};

/** Without its number. */
export const entryText = ({ before, after, stored, ...rest }: NewEntry): string =>
  JSON.stringify({
    ...differing({ ...rest, id: 0 }, noEntry),
    ...(before && { before: differing(before, blank) }),
    after: differing(after, blank),
    ...(stored && { stored: differing(stored, after) }),
  });

export const entryIn = (text: string, id: number): Entry => {
  const { before, after, stored, ...rest } = parse<Written<Entry>>(text);
  const whole = { ...blank, ...after };
  return {
    ...noEntry,
    ...rest,
    before: before ? { ...blank, ...before } : null,
    after: whole,
    stored: stored ? { ...whole, ...stored } : null,
    id,
  };
};

export const historyText = ({ before, after, write, ...rest }: HistoryEntry): string =>
  JSON.stringify({
    ...differing(rest, noHistory),
    write: write.startsWith(`${rest.run}/`) ? write.slice(rest.run.length) : write,
    ...(before && { before: differing(before, blank) }),
    after: differing(after, blank),
  });

export const historyIn = (text: string): HistoryEntry => {
  const { before, after, write, ...rest } = parse<Written<HistoryEntry>>(text);
  return {
    ...noHistory,
    ...rest,
    write: write.startsWith('/') ? rest.run + write : write,
    before: before ? { ...blank, ...before } : null,
    after: { ...blank, ...after },
  };
};

/** What is not there is as in these: most rows are of adds that the service accepted. */
const blank: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

const noHistory = {
  action: 'add',
  cause: 'unknown',
  outcome: 'applied',
  recordId: null,
  error: null,
  source: null,
  revision: null,
} as const;

const noEntry = {
  id: 0,
  action: 'add',
  cause: 'unknown',
  state: 'accepted',
  recordId: null,
  source: null,
  revision: null,
  makesWayFor: null,
  error: null,
  refusedAt: null,
  unchangedAt: null,
  acceptedAt: null,
  missedAt: null,
  isOnlyCounted: false,
  idsBefore: [],
} as const;

type Written<Row> = Omit<Row, 'before' | 'stored'> & {
  readonly before?: RecordData;
  readonly stored?: RecordData;
};

/** The fields in which it differs from another value of its kind. */
const differing = (value: object, from: object): object => {
  const other: Readonly<Record<string, unknown>> = { ...from };
  return Object.fromEntries(Object.entries(value).filter(([key, one]) => one !== other[key]));
};

/** The bodies are this program's own; the schema version says which version wrote them. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion, typescript/no-unnecessary-type-parameters
const parse = <T>(body: string): T => JSON.parse(body) as T;
