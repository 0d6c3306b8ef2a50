import { nameById, type DesiredTemplate, type ActualTemplate } from '../model/template.ts';
import { groupBy } from '../model/group.ts';

export interface BoundTemplate {
  readonly desired: DesiredTemplate;
  readonly actual: ActualTemplate;
  /** Notes for people that block nothing. */
  readonly notes: readonly string[];
}

export interface UnboundTemplate {
  readonly desired: DesiredTemplate;
  readonly status: 'failed' | 'held';
  readonly reason: string;
}

export type Bound = BoundTemplate | UnboundTemplate;

interface Description {
  readonly id: number | null;
  readonly template: string | null;
  readonly file: string;
}

/**
 * Finds the template that a file describes: by id, else by exact name among the client's own. A template that
 * one file names by id and another by name has two descriptions, and neither is written. `unusable` are
 * descriptions with errors, which hold the templates that they name.
 */
export const bindTemplates = (
  described: readonly DesiredTemplate[],
  unusable: readonly Description[],
  listing: readonly ActualTemplate[],
): Bound[] => {
  const bound = bindEach(described, listing);
  const places = groupBy(
    bound.flatMap((one) => ('actual' in one ? [{ id: one.actual.id, place: placeOf(one.desired) }] : [])),
    ({ id }) => id,
  );
  const brokenById = new Map(unusable.map(({ id, file }) => [id, file]));
  const brokenByName = new Map(
    unusable.flatMap(({ id, template, file }) => (id === null ? [[template, file] as const] : [])),
  );
  return bound.map((one) => {
    if (!('actual' in one)) return one;
    const { desired, actual } = one;
    const own = placeOf(desired);
    const other =
      places.get(actual.id)?.find(({ place }) => place !== own)?.place ??
      brokenById.get(actual.id) ??
      brokenByName.get(actual.name);
    if (other === undefined)
      return isCalled(desired, actual) ? one : failed(desired, misnamed(desired, actual));
    return {
      desired,
      status: 'held',
      reason: `template ${actual.id} ('${actual.name}') is described at ${own} and at ${other}`,
    };
  });
};

/** A copied file with the id of the first template would overwrite that one. */
const isCalled = ({ template }: DesiredTemplate, { id, name }: ActualTemplate): boolean =>
  template === name || template === nameById(id);

const misnamed = ({ template }: DesiredTemplate, { id, name }: ActualTemplate): string =>
  `template ${id} is called '${name}' at the service, not '${template}': correct the name or the id`;

const placeOf = ({ source: { file, line, column } }: DesiredTemplate): string => `${file}:${line}:${column}`;

const bindEach = (desired: readonly DesiredTemplate[], actual: readonly ActualTemplate[]): Bound[] => {
  const own = actual.filter((template) => !template.publiclyAvailable);
  const byId = new Map(actual.map((template) => [template.id, template]));
  const byName = groupBy(own, (template) => template.name);
  return desired.map((one) => {
    const found =
      one.id === null
        ? named(one.template, byName.get(one.template) ?? [], actual)
        : numbered(one.id, byId.get(one.id));
    return typeof found === 'string' ? failed(one, found) : { desired: one, actual: found, notes: [] };
  });
};

/** The template, or why there is none. */
const numbered = (id: number, actual: ActualTemplate | undefined): ActualTemplate | string => {
  if (!actual) return `no template with id ${id} at the service`;
  return actual.publiclyAvailable ? notOwn(`'${actual.name}' (${id})`, actual) : actual;
};

const named = (
  name: string,
  [actual, ...others]: readonly ActualTemplate[],
  all: readonly ActualTemplate[],
): ActualTemplate | string => {
  if (actual && others.length > 0) {
    const ids = [actual, ...others].map((template) => template.id).join(', ');
    return `several templates are called '${name}' (${ids}): choose one with id`;
  }
  if (actual) return actual;
  if (all.length === 0) return 'the service lists no templates at all: `doctor` shows why';
  const foreign = all.find((template) => template.name === name);
  return foreign
    ? notOwn(`'${name}'`, foreign)
    : `no template of this client is called '${name}': create it at the service, or correct the name`;
};

const notOwn = (template: string, { isOwnerStated }: ActualTemplate): string =>
  isOwnerStated === undefined
    ? `${template} is a public template; public templates are never written`
    : `${template} may be public: the service does not say that it is yours (publicly_available is missing), so it is never written`;

const failed = (desired: DesiredTemplate, reason: string): UnboundTemplate => ({
  desired,
  status: 'failed',
  reason,
});
