import type { ActualTemplate } from '../model/template.ts';
import type { ClientMemory, KnownClient } from './client-memory.ts';
import type { StoreLocation } from './store-location.ts';

export type Listing = Promise<readonly ActualTemplate[]>;

/** Lists the templates that the token shows. */
export type List = () => Listing;

export interface Identity {
  readonly client: KnownClient;
  /** A notice for people about an unknown token. */
  readonly notice: string | null;
}

/**
 * Finds the client of a token. Own templates belong to one client, so an unknown token belongs to the known
 * client of its base URL if it shows most of that client's templates and records; else to a new client. `known`: the
 * client of the token, if that is certain already.
 */
export const identify = async (
  memory: ClientMemory,
  { digest, baseUrl, name, names }: StoreLocation,
  templates: readonly ActualTemplate[],
  known: KnownClient | null = null,
): Promise<Identity> => {
  const own = known ?? (await memory.identify());
  if (own || baseUrl === null) return { client: { scope: digest, ...own, baseUrl, name }, notice: null };
  const similar = await memory.clients.fitting(baseUrl, templates);
  const fitting = similar.filter(
    (client) => client.name === null || client.name === name || !names.includes(client.name),
  );
  const [found] = fitting;
  if (found && fitting.length === 1) return { client: { ...found, baseUrl, name }, notice: takenOver(found) };
  return { client: { scope: digest, baseUrl, name }, notice: found ? ambiguous(fitting) : null };
};

const nameOf = ({ name }: KnownClient): string => name ?? 'without a name';

const takenOver = (client: KnownClient): string =>
  `this client token is new, and shows the templates of a known client (${nameOf(client)}): it takes over the state of that client`;

const ambiguous = (clients: readonly KnownClient[]): string =>
  `this client token is new, and shows templates of ${clients.length} known clients (${clients.map(nameOf).join(', ')}): it is not clear which of them it is, so it takes over no state`;
