import type { Suspension, SuspensionRequest } from '../../model/suspension.ts';
import type { ManagedClient } from './client-manager.ts';

/** What was saved; null if there is no such template. */
export type SuspendTemplate = (
  client: string,
  template: string,
  how: Omit<SuspensionRequest, 'templates'>,
) => Promise<Suspension | null>;

/** How many suspensions it ended; null if there is no such template. */
export type ResumeTemplate = (client: string, template: string) => Promise<number | null>;

/** Suspends and resumes templates of these clients, for the page. */
export const suspending = (
  clients: () => readonly ManagedClient[],
): { readonly suspend: SuspendTemplate; readonly resume: ResumeTemplate } => {
  const find = (client: string, template: string) => {
    const found = clients().find((one) => one.client.settings.name === client);
    const known = found?.newest?.templates.find((one) => one.template === template);
    const isDescribed = (found?.templates.described(template).length ?? 0) > 0;
    if (found === undefined || (known === undefined && !isDescribed)) return null;
    return { client: found.client, one: { template, templateId: known?.id ?? null } };
  };
  return {
    suspend: async (client, template, how) => {
      const found = find(client, template);
      if (found === null) return null;
      const templates = [found.one];
      const [saved] = await found.client.suspending((memory) => memory.suspend({ ...how, templates }));
      return saved!;
    },
    resume: async (client, template) => {
      const found = find(client, template);
      if (found === null) return null;
      const ended = await found.client.suspending((suspensions) => suspensions.resume([found.one]));
      return ended.length;
    },
  };
};
