import type { ActualTemplate, DesiredState } from '../model/template.ts';
import type { UnmanagedTemplate } from '../result.ts';

type Unmanaged = Omit<UnmanagedTemplate, 'client'>;

export interface UnmanagedRequest {
  /** The service's templates. */
  readonly actual: readonly ActualTemplate[];
  readonly described: DesiredState;
  /** The ids of templates that a file has described before. */
  readonly managed: () => Promise<ReadonlySet<number>>;
  /** What was found last. It is returned again while nothing changes. */
  readonly before: readonly Unmanaged[];
}

/** The client's own templates that no file describes. Nothing can be deleted, so they stay as they are. */
export const unmanagedIn = async ({
  actual,
  described: { templates, unusable, files },
  managed,
  before,
}: UnmanagedRequest): Promise<readonly Unmanaged[]> => {
  // An invalid file without a readable name may be the one that describes it.
  if (files === 0 || unusable.some(({ template }) => template === null)) return [];
  const all = [...templates, ...unusable];
  const [ids, names] = [new Set(all.map(({ id }) => id)), new Set(all.map(({ template }) => template))];
  const left = actual.filter(
    ({ id, name, publiclyAvailable }) => !publiclyAvailable && !ids.has(id) && !names.has(name),
  );
  const isAsBefore =
    left.length === before.length &&
    left.every(({ id, name, records }, index) => {
      const last = before[index]!;
      return last.id === id && last.template === name && last.records === records.length;
    });
  if (isAsBefore) return before;
  const known = await managed();
  return left.map(({ id, name, records }) => ({
    template: name,
    id,
    records: records.length,
    hadFile: known.has(id),
  }));
};

/** The client's own templates whose files have errors: nothing else tells what the service has for them. */
export const withInvalidFile = (
  actual: readonly ActualTemplate[],
  { unusable }: DesiredState,
): readonly ActualTemplate[] => {
  if (unusable.length === 0) return [];
  const ids = new Set(unusable.map(({ id }) => id));
  const names = new Set(unusable.map(({ id, template }) => (id === null ? template : null)));
  return actual.filter(
    ({ id, name, publiclyAvailable }) => !publiclyAvailable && (ids.has(id) || names.has(name)),
  );
};
