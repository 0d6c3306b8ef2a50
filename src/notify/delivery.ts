import type { Difference } from '../plan/difference.ts';
import type { HealthChange } from './health-change.ts';
import type { Notification } from './schema.ts';
import type { TemplateHealth } from './health.ts';

/** A message to one receiver. Its id and changes stay the same over all attempts. */
export interface Delivery {
  readonly id: string;
  readonly createdAt: Date;
  readonly changes: readonly HealthChange[];
}

/** The body for a webhook receiver. */
export const notificationOf = (
  { id, createdAt, changes }: Delivery,
  publicUrl: string | null = null,
): Notification => ({
  schema: 'dns-template-sync/notification/v1',
  delivery: id,
  createdAt: createdAt.toISOString(),
  changes: changes.map((change) => shownChange(change, publicUrl)),
});

/** The page about the changed template. */
export const linkOf = ({ client, health: { template } }: HealthChange, publicUrl: string): string => {
  if (template === null) return `${publicUrl}/`;
  const name = `templates/${encodeURIComponent(template)}`;
  return client === 'default'
    ? `${publicUrl}/${name}`
    : `${publicUrl}/clients/${encodeURIComponent(client)}/${name}`;
};

const shownChange = (change: HealthChange, publicUrl: string | null): Notification['changes'][number] => {
  const { event, client, health, previous, merged, run, at } = change;
  const { template, templateId, file, commit, state, message, differences, corrected, subdomains } = health;
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
    message: message === null ? null : cut(message),
    counts: { differences: differences.length, mended: corrected.length, subdomains: subdomains.length },
    differences: shownDifferences(health, maxShown).map(withShortTexts),
    subdomains: subdomains.slice(0, maxShown).map(({ subdomain }) => subdomain),
    ...(publicUrl === null ? {} : { link: linkOf(change, publicUrl) }),
  };
};

export const shownDifferences = ({ differences, corrected }: TemplateHealth, max: number): Difference[] =>
  [...differences, ...corrected].slice(0, max);

const maxShown = 10;

const withShortTexts = (difference: Difference): Notification['changes'][number]['differences'][number] => {
  const short: unknown = JSON.parse(
    JSON.stringify(difference, (_, value: unknown) => (typeof value === 'string' ? cut(value) : value)),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a text stays a text, all else what it was
  return short as Notification['changes'][number]['differences'][number];
};

/** Receivers limit the size of a message; the report has the full text. */
const cut = (text: string): string => {
  const characters = Array.from(text.slice(0, 2 * maxCharacters + 2));
  return characters.length > maxCharacters ? `${characters.slice(0, maxCharacters).join('')}…` : text;
};
const maxCharacters = 500;
