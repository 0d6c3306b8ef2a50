import { unknownPlace, type ActualTemplate, type DesiredState } from '../model/template.ts';
import { unmanagedProblems } from '../report/view.ts';
import type { PassResult } from '../result.ts';
import { MemoryError, type MemoryReader } from '../state/memory.ts';

interface FilesAndService {
  /** The service's templates. */
  readonly actual: readonly ActualTemplate[];
  readonly files: DesiredState;
  readonly memory: Pick<MemoryReader, 'templates'>;
  /** Whether it is an error that no file describes a template. */
  readonly isError: boolean;
}

/**
 * Adds the client's own templates that no file describes: nothing can be deleted, so they stay as they are. And those whose
 * files have errors, since nothing else tells what the service has for them.
 */
export const withUnmanaged = async (
  result: PassResult,
  { actual, files, memory, isError }: FilesAndService,
): Promise<PassResult> => {
  const own = actual.filter(({ publiclyAvailable }) => !publiclyAvailable);
  const { unusable } = files;
  const ids = new Set(unusable.map(({ id }) => id));
  const names = new Set(unusable.map(({ id, template }) => (id === null ? template : null)));
  const left = notDescribed(own, files);
  const managed = left.length === 0 ? [] : await memory.templates().catch(noneIfLost);
  const known = new Set(managed.map(({ templateId }) => templateId));
  const unmanaged = left.map(({ id, name, records }) => ({
    client: result.client,
    template: name,
    id,
    records: records.length,
    hadFile: known.has(id),
  }));
  return {
    ...result,
    unmanaged,
    withInvalidFile: own.filter(({ id, name }) => ids.has(id) || names.has(name)),
    problems: [...result.problems, ...(isError ? unmanagedProblems(unmanaged) : [])],
  };
};

const notDescribed = (own: readonly ActualTemplate[], state: DesiredState): readonly ActualTemplate[] => {
  const { templates, unusable, files } = state;
  if (files === 0 || unknownPlace(state) !== null) return [];
  const all = [...templates, ...unusable];
  const [ids, names] = [new Set(all.map(({ id }) => id)), new Set(all.map(({ template }) => template))];
  return own.filter(({ id, name }) => !ids.has(id) && !names.has(name));
};

/** The report counts for more, where the state was lost during the pass. */
const noneIfLost = (error: unknown): never[] => {
  if (error instanceof MemoryError) return [];
  throw error;
};
