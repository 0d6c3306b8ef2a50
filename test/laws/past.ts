import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';
import type { Sent } from './seen.ts';

/** When a record became what it was then, and by whom: null for other people. */
export interface Change {
  readonly at: number;
  readonly by: Sent | null;
}

/** Null: the record does not exist. */
type Version = Change & { readonly record: ActualRecord | null };

/** What each record was before, for listings that are behind. */
export const createPast = (start: readonly ActualTemplate[]) => {
  const versions = new Map<number, Map<number, Version[]>>();
  const first = { at: -Infinity, by: null };
  for (const { id, records } of start)
    versions.set(id, new Map(records.map((record) => [record.id, [{ ...first, record }]])));
  return {
    changed: (
      { id: templateId, records: before }: ActualTemplate,
      records: readonly ActualRecord[],
      change: Change,
    ): void => {
      const own = versions.get(templateId)!;
      const note = (id: number, record: ActualRecord | null): void => {
        const all = own.get(id) ?? [];
        own.set(id, [...all.slice(-mostKept), { ...change, record }]);
      };
      const known = new Map(before.map((record) => [record.id, record]));
      for (const record of records) if (known.get(record.id) !== record) note(record.id, record);
      const ids = new Set(records.map(({ id }) => id));
      for (const { id } of before) if (!ids.has(id)) note(id, null);
    },
    /** The template without the changes that are not shown yet; a later change shows those before it. */
    asOf: (template: ActualTemplate, isShown: (change: Change) => boolean): ActualTemplate => ({
      ...template,
      records: [...versions.get(template.id)!.values()].flatMap(
        (all) => all.findLast((version) => isShown(version))?.record ?? [],
      ),
    }),
    /** The changes since then. */
    since: (from: number, now: number): unknown =>
      [...versions].flatMap(([templateId, own]) =>
        [...own.values()].flatMap((all) =>
          all
            .filter(({ at }) => at > from)
            .map(({ at, by, record }) => [templateId, Math.round((now - at) / 1_000), by !== null, record]),
        ),
      ),
    /** From now on every change is somebody else's. */
    disown: (): void => {
      for (const own of versions.values())
        for (const [id, all] of own)
          own.set(
            id,
            all.map((version) => ({ ...version, by: null })),
          );
    },
    hides: (isHidden: (change: Change) => boolean): boolean =>
      [...versions.values()].some((own) => [...own.values()].some((all) => isHidden(all.at(-1)!))),
  };
};

const mostKept = 20;
