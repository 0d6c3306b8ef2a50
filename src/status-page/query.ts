/** The filter of the page. It is in the address, so that it can be bookmarked and shared. */
export interface PageQuery {
  readonly show: Show | null;
  /** Case does not matter. */
  readonly text: string;
  readonly client: string | null;
  /** How many entries to skip. */
  readonly skip: number;
}

/** The kinds that can be shown alone; those that need a person come first. */
export const shows = [
  ['failed', 'failed'],
  ['blocked', 'blocked'],
  ['held', 'held'],
  ['suspended', 'suspended'],
  ['add', 'to add'],
  ['update', 'to change'],
  ['park', 'to park'],
  ['surplus', 'surplus'],
  ['edited', 'edited'],
  ['drifted', 'drifted'],
  ['subdomains', 'subdomains behind'],
  ['in-sync', 'in sync'],
] as const;

export type Show = (typeof shows)[number][0];

export const everything: PageQuery = { show: null, text: '', client: null, skip: 0 };

/** Ignores invalid parameters. */
export const readPageQuery = (query: URLSearchParams): PageQuery => {
  const skip = query.get('skip') ?? '';
  return {
    show: shows.find(([show]) => show === query.get('show'))?.[0] ?? null,
    text: (query.get('q') ?? '').trim().slice(0, maxTextLength),
    client: query.get('client') || null,
    skip: /^\d{1,6}$/.test(skip) ? Number(skip) : 0,
  };
};

const maxTextLength = 200;

export const addressOf = ({ show, text, client, skip }: PageQuery): string => {
  const query = new URLSearchParams();
  if (show !== null) query.set('show', show);
  if (text !== '') query.set('q', text);
  if (client !== null) query.set('client', client);
  if (skip !== 0) query.set('skip', String(skip));
  return query.size === 0 ? '/' : `/?${query.toString()}`;
};

/** The page of one template. */
export const templateAddress = (template: string, client: string | null): string =>
  `${client === null ? '' : `/clients/${encoded(client)}`}/templates/${encoded(template)}`;

/** A lone surrogate, which a name may contain, cannot be encoded; nor can a server read a long address. */
export const encoded = (text: string): string =>
  encodeURIComponent(text.slice(0, maxNameLength).replaceAll(/\p{Cs}/gu, '\ufffd'));

const maxNameLength = 1_500;
