import { UserError } from '../../errors.ts';
import { plural } from '../../lib/plural.ts';
import type { ActualRecord } from '../../model/record.ts';
import { shellWord } from '../../model/shell-word.ts';
import { entryOf, recordKey } from '../../plan/entry.ts';
import { readZoneLine, type ZoneLine } from './line.ts';

export interface ZoneFile {
  /** Their ids are their line numbers. */
  readonly records: readonly ActualRecord[];
  /** What a template cannot hold, in words. */
  readonly leftOut: readonly string[];
}

/**
 * Reads a zone file in which each line is a record, a comment or blank. It is no parser of master files: one that
 * misreads a `$INCLUDE` or a relative name loses records silently, and the tools of name servers print this form. Throws
 * a UserError about the first line that is not of it. `file` is for messages.
 */
export const readZone = (text: string, origin: string, file: string): ZoneFile => {
  const records = new Map<string, ActualRecord>();
  const leftOut = new Map<string, number[]>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const id = index + 1;
    // `dig` prints what it has received, and this below.
    if (/^;+ *transfer failed/i.test(line))
      throw new UserError(`${file}:${id}: the transfer failed, so records are missing`);
    if (/^\s*(?:;.*)?$/.test(line)) continue;
    const read = readZoneLine(line, origin);
    if ('mistake' in read) throw new UserError(`${file}:${id}: ${adviceOn(read, origin, file)}`);
    const [key, reason] =
      'leftOut' in read ? ['', read.leftOut] : [recordKey(entryOf(read.record)), 'that an earlier line has'];
    if ('record' in read && !records.has(key)) records.set(key, { id, ...read.record });
    else
      leftOut
        .set(reason, leftOut.get(reason) ?? [])
        .get(reason)!
        .push(id);
  }
  if (records.size + leftOut.size === 0) throw new UserError(`${file}: there is no record in it`);
  return {
    records: [...records.values()],
    leftOut: [...leftOut].map(
      ([reason, ids]) => `${plural(ids.length, 'record')} ${reason}: ${linesOf(ids)}`,
    ),
  };
};

const adviceOn = (
  { mistake, isForm }: Extract<ZoneLine, { mistake: string }>,
  origin: string,
  file: string,
): string =>
  isForm
    ? `${mistake}. The file has to have one record a line, with whole names and a TTL each; this makes one of it: named-compilezone -s full -o FLAT ${origin} ${shellWord(file)}`
    : mistake;

const linesOf = (ids: readonly number[]): string => {
  const shown = ids.slice(0, maxShown).join(', ');
  return `line${ids.length === 1 ? '' : 's'} ${shown}${ids.length > maxShown ? ` and ${ids.length - maxShown} more` : ''}`;
};

const maxShown = 20;
