import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { SuspendedTemplate } from '../model/suspension.ts';
import type { DesiredState } from '../model/template.ts';
import type { Client } from './client.ts';

export interface KnownTemplates {
  readonly files: DesiredState;
  /** Several may have the same name. */
  readonly templates: readonly SuspendedTemplate[];
}

type OneClient = Pick<Client, 'load' | 'service' | 'suspending'>;

/** The templates that files of a client describe. */
export const describedTemplates = async (client: OneClient): Promise<KnownTemplates> => {
  const files = await client.load();
  return { files, templates: named([...files.templates, ...files.unusable]) };
};

/** Also those whose file is gone, and what is suspended under an earlier name. */
export const everKnownTemplates = async (client: OneClient): Promise<KnownTemplates> => {
  const { files, templates } = await describedTemplates(client);
  const saved = await client.suspending(async (one) => [
    ...(await one.templates()),
    ...(await one.suspensions()),
  ]);
  return { files, templates: [...templates, ...named(saved)] };
};

/** With the id that the saved state or the service knows for its name, since it may get another name. */
export const withId = async (one: SuspendedTemplate, client: OneClient): Promise<SuspendedTemplate> => {
  const { template } = one;
  if (one.templateId !== null) return one;
  const saved = await client.suspending((memory) => memory.templates());
  const ids = saved.filter((row) => row.template === template).map(({ templateId }) => templateId);
  if (ids.length === 1) return { template, templateId: ids[0]! };
  try {
    const listed = await client.service.listDnsTemplates();
    const own = listed.filter(({ name, publiclyAvailable }) => name === template && !publiclyAvailable);
    return { template, templateId: own.length === 1 ? own[0]!.id : null };
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    throw new UserError(
      `${template} may get another name, so its id is needed, and the service cannot be asked (${error.message}): state the id in its file, or suspend the whole client with --client`,
    );
  }
};

const named = (
  all: readonly {
    readonly template: string | null;
    readonly templateId?: number | null;
    readonly id?: number | null;
  }[],
): SuspendedTemplate[] =>
  all.flatMap(({ template, templateId, id }) =>
    template === null ? [] : [{ template, templateId: templateId ?? id ?? null }],
  );
