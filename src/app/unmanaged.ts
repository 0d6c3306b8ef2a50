import { plural } from '../lib/plural.ts';
import type { ActualTemplate, DesiredState, Problem } from '../model/template.ts';

export interface UnmanagedRequest {
  /** The service's templates; null if they could not be read. */
  readonly actual: readonly ActualTemplate[] | null;
  readonly described: DesiredState;
  /** The ids of templates that were managed; empty without saved state. */
  readonly managed: ReadonlySet<number>;
}

/**
 * A warning about templates that no file describes any more. Nothing is deleted, so nothing of them would be in a plan.
 * Without saved state, as in CI, these are all templates of the client that are in no file.
 */
export const unmanagedIn = ({ actual, described, managed }: UnmanagedRequest): Problem[] => {
  const { templates, unusable, files } = described;
  // An invalid file without a readable name may be the one that describes it.
  if (actual === null || files === 0 || unusable.some(({ template }) => template === null)) return [];
  const all = [...templates, ...unusable];
  const [ids, names] = [new Set(all.map(({ id }) => id)), new Set(all.map(({ template }) => template))];
  const left = actual.filter(
    ({ id, name, publiclyAvailable }) =>
      !publiclyAvailable && !ids.has(id) && !names.has(name) && (managed.size === 0 || managed.has(id)),
  );
  if (left.length === 0) return [];
  const shown = left
    .slice(0, maxShown)
    .map(({ id, name, records }) => `${name} (${id}): ${plural(records.length, 'record')}`);
  const more = left.length > maxShown ? ` and ${left.length - maxShown} more templates` : '';
  const what = managed.size === 0 ? 'in no template file' : 'no longer managed, since no file describes it';
  const message = `${what}; stays at the service as it is: ${shown.join(', ')}${more}`;
  return [{ severity: 'warning', check: 'unmanaged', message, file: null, line: null, column: null }];
};

const maxShown = 10;
