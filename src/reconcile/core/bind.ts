import { nameById, type DesiredTemplate, type PresentTemplate } from '../../model/template.ts';
import { groupBy } from '../../plan/group.ts';

export interface BoundTemplate {
  readonly desired: DesiredTemplate;
  readonly present: PresentTemplate;
  /** Notes for people that block nothing. */
  readonly notes: readonly string[];
}

export interface UnboundTemplate {
  readonly desired: DesiredTemplate;
  readonly status: 'failed' | 'held';
  readonly reason: string;
}

type Bound = BoundTemplate | UnboundTemplate;

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
  desired: readonly DesiredTemplate[],
  unusable: readonly Description[],
  actual: readonly PresentTemplate[],
): Bound[] => {
  const bound = bindEach(desired, actual);
  const places = groupBy(
    bound.flatMap((one) => ('present' in one ? [{ id: one.present.id, place: placeOf(one.desired) }] : [])),
    ({ id }) => id,
  );
  const brokenById = new Map(unusable.map(({ id, file }) => [id, file]));
  const brokenByName = new Map(
    unusable.flatMap(({ id, template, file }) => (id === null ? [[template, file] as const] : [])),
  );
  return bound.map((one) => {
    if (!('present' in one)) return one;
    const { desired: wanted, present } = one;
    const own = placeOf(wanted);
    const other =
      places.get(present.id)?.find(({ place }) => place !== own)?.place ??
      brokenById.get(present.id) ??
      brokenByName.get(present.name);
    if (other === undefined)
      return isCalled(wanted, present) ? one : failed(wanted, misnamed(wanted, present));
    return {
      desired: wanted,
      status: 'held',
      reason: `template ${present.id} ('${present.name}') is described at ${own} and at ${other}`,
    };
  });
};

/** A copied file with the id of the first template would overwrite that one. */
const isCalled = ({ template }: DesiredTemplate, { id, name }: PresentTemplate): boolean =>
  template === name || template === nameById(id);

const misnamed = ({ template }: DesiredTemplate, { id, name }: PresentTemplate): string =>
  `template ${id} is called '${name}' at the service, not '${template}': mend the name or the id`;

const placeOf = ({ source: { file, line, column } }: DesiredTemplate): string => `${file}:${line}:${column}`;

const bindEach = (desired: readonly DesiredTemplate[], actual: readonly PresentTemplate[]): Bound[] => {
  const own = actual.filter((template) => !template.publiclyAvailable);
  const byId = new Map(actual.map((template) => [template.id, template]));
  const byName = groupBy(own, (template) => template.name);
  return desired.map((template) =>
    template.id === null
      ? bindByName(template, byName.get(template.template) ?? [], actual)
      : bindById(template, byId.get(template.id)),
  );
};

const bindById = (desired: DesiredTemplate, present: PresentTemplate | undefined): Bound => {
  if (!present) return failed(desired, `no template with id ${desired.id} at the service`);
  if (present.publiclyAvailable)
    return failed(desired, `template ${desired.id} is public, and those are never written`);
  return { desired, present, notes: [] };
};

const bindByName = (
  desired: DesiredTemplate,
  found: readonly PresentTemplate[],
  actual: readonly PresentTemplate[],
): Bound => {
  const [present, ...others] = found;
  if (present && others.length === 0) return { desired, present, notes: [] };
  if (present) {
    const ids = found.map((template) => template.id).join(', ');
    return failed(desired, `several templates are called '${desired.template}' (${ids}): say which with id`);
  }
  const isPublic = actual.some((template) => template.name === desired.template);
  return failed(
    desired,
    isPublic
      ? `'${desired.template}' is a public template, and those are never written`
      : `no template of this client is called '${desired.template}': make it at the service, or mend the name`,
  );
};

const failed = (desired: DesiredTemplate, reason: string): UnboundTemplate => ({
  desired,
  status: 'failed',
  reason,
});
