import type { DesiredTemplate, PresentTemplate } from '../model/template.ts';
import { groupBy } from '../plan/group.ts';

export interface BoundTemplate {
  readonly desired: DesiredTemplate;
  readonly present: PresentTemplate;
  /** What a person should know, though it hinders nothing. */
  readonly notes: readonly string[];
}

export interface UnboundTemplate {
  readonly desired: DesiredTemplate;
  readonly failure: string;
}

type Bound = BoundTemplate | UnboundTemplate;

/** Finds the template that a file describes: by id, else by exact name among the client's own. */
export const bindTemplates = (
  desired: readonly DesiredTemplate[],
  actual: readonly PresentTemplate[],
): Bound[] => {
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
  if (!present) return { desired, failure: `no template with id ${desired.id} at the service` };
  if (present.publiclyAvailable)
    return { desired, failure: `template ${desired.id} is public, and those are never written` };
  const notes =
    present.name === desired.template
      ? []
      : [`template ${present.id} is called '${present.name}' at the service`];
  return { desired, present, notes };
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
    return {
      desired,
      failure: `several templates are called '${desired.template}' (${ids}): say which with id`,
    };
  }
  const isPublic = actual.some((template) => template.name === desired.template);
  return {
    desired,
    failure: isPublic
      ? `'${desired.template}' is a public template, and those are never written`
      : `no template of this client is called '${desired.template}': make it at the service, or mend the name`,
  };
};
