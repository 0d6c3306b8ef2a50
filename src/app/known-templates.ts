import { UserError } from '../errors.ts';
import { HostingError } from '../hosting/errors.ts';
import type { SuspendedTemplate } from '../model/suspension.ts';
import type { DesiredState } from '../model/template.ts';
import { groupBy } from '../model/group.ts';
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

/** With the ids that the saved state or the service knows for their names, since they may get others. */
export const withIds = async (
  all: readonly SuspendedTemplate[],
  client: OneClient,
): Promise<SuspendedTemplate[]> => {
  if (all.every(({ templateId }) => templateId !== null)) return [...all];
  const saved = withOnlyId(all, await client.suspending((memory) => memory.templates()));
  const missing = saved.find(({ templateId }) => templateId === null);
  if (!missing) return saved;
  try {
    const listed = await client.service.listDnsTemplates();
    const own = listed.filter(({ publiclyAvailable }) => !publiclyAvailable);
    return withOnlyId(
      saved,
      own.map(({ id: templateId, name: template }) => ({ template, templateId })),
    );
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    throw new UserError(
      `${missing.template} may get another name, so its id is needed, and the service cannot be asked (${error.message}): state the id in its file, or suspend the whole client with --client`,
    );
  }
};

/** Where only one of them has a name, that one's id. */
const withOnlyId = (
  all: readonly SuspendedTemplate[],
  known: readonly SuspendedTemplate[],
): SuspendedTemplate[] => {
  const byName = groupBy(known, ({ template }) => template);
  return all.map((one) => {
    const same = byName.get(one.template) ?? [];
    const templateId = one.templateId ?? (same.length === 1 ? same[0]!.templateId : null);
    return { template: one.template, templateId };
  });
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
