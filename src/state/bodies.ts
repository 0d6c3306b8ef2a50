import type { RecordData } from '../model/record.ts';
import type { Entry, HistoryEntry, NewEntry, SavedRecord } from './memory.ts';

/**
 * How rows are written in both stores: as JSON, without what the reader knows anyway, since after a first pass there is a row
 * of each kind for every record. What is written in full is read as well.
 */
export const recordText = ({ wanted, seen, stored, ...rest }: SavedRecord): string =>
  JSON.stringify({
    ...differing(rest, {}),
    wanted: differing(wanted, blank),
    ...(seen && { seen: differing(seen, wanted) }),
    ...(stored && { stored: { ...stored, sent: differing(stored.sent, wanted) } }),
  });

export const recordIn = ({ wanted, seen, stored, ...rest }: Written<SavedRecord>): SavedRecord => {
  const whole = { ...blank, ...wanted };
  return {
    ...rest,
    wanted: whole,
    ...(seen && { seen: { ...whole, ...seen } }),
    ...(stored && { stored: { ...stored, sent: { ...whole, ...stored.sent } } }),
  };
};

/** Without its number. */
export const entryText = ({ before, after, stored, ...rest }: NewEntry): string => {
  const {
    id: _,
    file,
    acceptedAt,
    sentAt,
    ...others
  }: Omit<Entry, 'before' | 'after' | 'stored'> = {
    id: 0,
    ...rest,
  };
  const { idsBefore, ...plain } = differing(others, noEntry);
  return JSON.stringify({
    ...plain,
    ...(idsBefore && idsBefore.length > 0 && { idsBefore }),
    sentAt,
    ...(file !== others.source?.file && { file }),
    ...(acceptedAt && {
      acceptedAt: { ...acceptedAt, uptime: differing(acceptedAt.uptime, sentAt.uptime) },
    }),
    ...(before && { before: differing(before, blank) }),
    after: differing(after, blank),
    ...(stored && { stored: differing(stored, after) }),
  });
};

export const entryIn = (
  { before, after, stored, file, acceptedAt, sentAt, idsBefore, ...rest }: Written<NewEntry>,
  id: number,
): Entry => {
  const whole = { ...blank, ...after };
  return {
    ...noEntry,
    ...rest,
    idsBefore: idsBefore ?? [],
    file: file ?? rest.source?.file ?? '',
    sentAt,
    acceptedAt: acceptedAt ? { ...acceptedAt, uptime: { ...sentAt.uptime, ...acceptedAt.uptime } } : null,
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

export const historyIn = ({ before, after, write, ...rest }: Written<HistoryEntry>): HistoryEntry => ({
  ...noHistory,
  ...rest,
  write: write.startsWith('/') ? rest.run + write : write,
  before: before ? { ...blank, ...before } : null,
  after: { ...blank, ...after },
});

/** What is not there is as in these: most rows are of adds that the service accepted. */
const blank: RecordData = { type: '', name: null, content: '', priority: null, ttl: null };

const noEntry = {
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
  missedAt: null,
  isOnlyCounted: false,
} as const;

const noHistory = {
  action: 'add',
  cause: 'unknown',
  outcome: 'applied',
  recordId: null,
  error: null,
  source: null,
  revision: null,
} as const;

/** A row as it is saved. */
export type Written<Row> = {
  readonly [Key in keyof Row]: Key extends 'wanted' | 'seen' | 'before' | 'after' | 'sent'
    ? Partial<RecordData> | Extract<Row[Key], null | undefined>
    : Key extends 'file' | 'idsBefore'
      ? Row[Key] | undefined
      : Row[Key];
};

/** The fields in which it differs from another value of its kind. */
const differing = <Value extends object>(value: Value, from: object): Partial<Value> => {
  const other: Readonly<Record<string, unknown>> = { ...from };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- some of its own fields
  return Object.fromEntries(
    Object.entries(value).filter(([key, one]) => one !== other[key]),
  ) as Partial<Value>;
};
