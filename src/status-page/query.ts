/** What a page is asked to show. It is in the address, so that it can be bookmarked and shared. */
export interface PageQuery {
  readonly show: Show | null;
  /** Case does not matter. */
  readonly text: string;
  readonly client: string | null;
  /** How many entries to skip. */
  readonly skip: number;
  /** What the reader has just done; not part of other addresses. */
  readonly notice: Notice | null;
}

/** An action that somebody took on a page, which leads back to it. */
export interface Notice {
  readonly did: (typeof deeds)[number];
  /** Ms since the epoch. */
  readonly at: number;
}

/** `nothing`: there was nothing to resume. */
const deeds = ['sync', 'suspend', 'resume', 'nothing'] as const;

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

export const everything: PageQuery = { show: null, text: '', client: null, skip: 0, notice: null };

/** Ignores invalid parameters, and an action of a while ago. */
export const readPageQuery = (query: URLSearchParams, now: number): PageQuery => {
  const numberIn = (name: string): number => {
    const text = query.get(name) ?? '';
    return /^\d{1,15}$/.test(text) ? Number(text) : 0;
  };
  const [did, at] = [deeds.find((one) => one === query.get('did')), numberIn('at')];
  return {
    show: shows.find(([show]) => show === query.get('show'))?.[0] ?? null,
    text: (query.get('q') ?? '').trim().slice(0, maxTextLength),
    client: query.get('client') || null,
    skip: numberIn('skip'),
    notice: did !== undefined && at <= now && at > now - noticeLength ? { did, at } : null,
  };
};

const maxTextLength = 200;

/** Milliseconds. */
const noticeLength = 5 * 60_000;

/**
 * The address of the overview. All addresses are relative, so that pages work under a path of a proxy: these are from
 * the root of the pages.
 */
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

/** The same address, which says what was done. */
export const withNotice = (address: string, { did, at }: Notice): string =>
  `${address}${address.includes('?') ? '&' : '?'}did=${did}&at=${at}`;

/** A lone surrogate, which a name may contain, cannot be encoded; nor can a server read a long address. */
export const encoded = (text: string): string =>
  encodeURIComponent(text.slice(0, maxNameLength).replaceAll(/\p{Cs}/gu, '\ufffd'));

const maxNameLength = 1_500;

/** The way from this path to the root of the pages: a name may have a slash that a proxy has decoded. */
export const rootOf = (path: string): string => {
  if (path.startsWith('/templates/')) return '../';
  if (path.startsWith('/clients/')) return '../../../';
  return '../'.repeat(path.split('/').length - 2) || './';
};
