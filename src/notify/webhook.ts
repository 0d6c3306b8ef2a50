import type { Delivery, HealthChange } from './news.ts';
import type { Notification } from './schema.ts';

/** The body for a webhook receiver. */
export const notificationOf = (
  { id, createdAt, changes }: Delivery,
  publicUrl: string | null = null,
): Notification => ({
  schema: 'dns-template-sync/notification/v1',
  delivery: id,
  createdAt: createdAt.toISOString(),
  changes: changes.map((change) => {
    const { event, client, health, previous, merged, run, at } = change;
    const { template, templateId, file, commit, state, message, counts, differences, subdomains } = health;
    return {
      event,
      client,
      template,
      templateId,
      file,
      ...(commit === undefined ? {} : { commit }),
      state,
      previous,
      merged,
      run,
      at,
      message,
      counts: { differences: counts.differences, mended: counts.mended, subdomains: counts.subdomains },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same, but for read-only lists
      differences: differences as Shown['differences'],
      subdomains: subdomains.map(({ name }) => name),
      ...(publicUrl === null ? {} : { link: linkOf(change, publicUrl) }),
    };
  }),
});

type Shown = Notification['changes'][number];

/** The page about the changed template. */
export const linkOf = ({ client, health: { template } }: HealthChange, publicUrl: string): string => {
  if (template === null) return `${publicUrl}/`;
  const name = `templates/${encodeURIComponent(template)}`;
  return client === 'default'
    ? `${publicUrl}/${name}`
    : `${publicUrl}/clients/${encodeURIComponent(client)}/${name}`;
};
