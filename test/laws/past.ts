import type { ActualRecord } from '../../src/model/record.ts';
import type { ActualTemplate } from '../../src/model/template.ts';

/** When a record became what it was then, and by whom: null for other people. */
export interface Change<Own> {
  readonly at: number;
  readonly by: Own | null;
}

/** What each record was before, for listings that are behind. */
export interface Past<Own> {
  changed(before: ActualTemplate, records: readonly ActualRecord[], change: Change<Own>): void;
  /** The template without the changes that are not shown yet; a later change shows those before it. */
  asOf(template: ActualTemplate, isShown: (change: Change<Own>) => boolean): ActualTemplate;
  /** The changes since then, as text. */
  since(from: number, now: number): unknown;
  /** From now on every change is somebody else's. */
  disown(): void;
  hides(isHidden: (change: Change<Own>) => boolean): boolean;
}

/** Null: the record does not exist. */
type Version<Own> = Change<Own> & { readonly record: ActualRecord | null };

export const createPast = <Own>(start: readonly ActualTemplate[]): Past<Own> => {
  const versions = new Map<number, Map<number, Version<Own>[]>>();
  const first = { at: -Infinity, by: null };
  for (const { id, records } of start)
    versions.set(id, new Map(records.map((record) => [record.id, [{ ...first, record }]])));
  return {
    changed: ({ id: templateId, records: before }, records, change) => {
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
    asOf: (template, isShown) => ({
      ...template,
      records: [...versions.get(template.id)!.values()].flatMap(
        (all) => all.findLast((version) => isShown(version))?.record ?? [],
      ),
    }),
    since: (from, now) =>
      [...versions].flatMap(([templateId, own]) =>
        [...own.values()].flatMap((all) =>
          all
            .filter(({ at }) => at > from)
            .map(({ at, by, record }) => [templateId, Math.round((now - at) / 1_000), by !== null, record]),
        ),
      ),
    disown: () => {
      for (const own of versions.values())
        for (const [id, all] of own)
          own.set(
            id,
            all.map((version) => ({ ...version, by: null })),
          );
    },
    hides: (isHidden) =>
      [...versions.values()].some((own) => [...own.values()].some((all) => isHidden(all.at(-1)!))),
  };
};

const mostKept = 20;
