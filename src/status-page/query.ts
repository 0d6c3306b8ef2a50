import type { Reader } from './facts.ts';

/** Somebody who asks for a page. */
export interface Visit {
  readonly query: PageQuery;
  readonly reader: Reader;
  /** The way to the root of the pages, such as `../`, and the address of this one from there. */
  readonly root: string;
  readonly page: string;
}

/** What a page is asked to show. It is in the address, so that it can be bookmarked and shared. */
export interface PageQuery {
  readonly show: Show | null;
  /** Case does not matter. */
  readonly text: string;
  readonly client: string | null;
  /** How many entries to skip. */
  readonly skip: number;
  /** What the reader has just done on the page; not part of other addresses. */
  readonly did: Deed | null;
}

/** `nothing`: there was nothing to resume. */
const deeds = ['sync', 'suspend', 'resume', 'nothing'] as const;
export type Deed = (typeof deeds)[number];

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
  ['in-sync', 'in sync'],
] as const;

export type Show = (typeof shows)[number][0];

export const everything: PageQuery = { show: null, text: '', client: null, skip: 0, did: null };

/** Ignores invalid parameters. */
export const readPageQuery = (query: URLSearchParams): PageQuery => ({
  show: shows.find(([show]) => show === query.get('show'))?.[0] ?? null,
  text: (query.get('q') ?? '').trim().slice(0, 200),
  client: query.get('client') || null,
  skip: Number(/^\d{1,9}$/.exec(query.get('skip') ?? '')?.[0] ?? 0),
  did: deeds.find((one) => one === query.get('did')) ?? null,
});

/** The address of the overview. All addresses are from the root of the pages, so that they work under a path of a proxy. */
export const addressOf = ({ show, text, client, skip }: Partial<PageQuery>): string => {
  const query = new URLSearchParams();
  if (show) query.set('show', show);
  if (text) query.set('q', text);
  if (client) query.set('client', client);
  if (skip) query.set('skip', String(skip));
  return query.size === 0 ? '' : `?${query.toString()}`;
};

/** The page of one template. */
export const templateAddress = (template: string, client: string | null): string =>
  `${client === null ? '' : `clients/${encoded(client)}/`}templates/${encoded(template)}`;

/** A lone surrogate, which a name may contain, cannot be encoded; nor can a server read a long address. */
export const encoded = (text: string): string =>
  encodeURIComponent(text.slice(0, 1_500).replaceAll(/\p{Cs}/gu, '\ufffd'));

/** The way from this path to the root of the pages: a name may have a slash that a proxy has decoded. */
export const rootOf = (path: string): string => {
  if (path.startsWith('/templates/')) return '../';
  if (path.startsWith('/clients/')) return '../../../';
  return '../'.repeat(path.split('/').length - 2) || './';
};
