import type { Dialect } from '../model/dialect.ts';
import { isObject } from './error-words.ts';
import { parseUrl } from '../lib/parse-url.ts';

/** Parameters that ask for another page. */
export type PageParameters = readonly (readonly [name: string, value: string])[];

/** One answer of a list that may have more pages. */
interface PageAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The object that held the list; null if the answer is the list. */
  readonly wrapper: Readonly<Record<string, unknown>> | null;
  /** The number of elements of this page. */
  readonly length: number;
  /** From 1. */
  readonly number: number;
  /** The number of elements of this page and those before. */
  readonly total: number;
  /** The path that was asked for, relative to the base URL. */
  readonly path: string;
}

/** The parameters of the next page, null if this is the last one, or why the list cannot be read as a whole. */
export const nextPage = (answer: PageAnswer, pages: Dialect['pages']): PageParameters | string | null => {
  const signs = signsOf(answer);
  switch (pages) {
    case 'none': {
      const sign = signOfMore(signs, answer);
      return sign && `the listing has more pages (${sign}): set pages: ${pageFormOf(answer)}`;
    }
    case 'link': {
      if (signs.link !== null) return parametersOf(signs.link, answer.path);
      const sign = signOfMore(signs, answer);
      return sign && `the listing has more pages (${sign}) but no link to the next one: set pages: page`;
    }
    case 'page': {
      const { count, elements, next } = signs;
      const isKnown = count !== null || elements !== null || next !== null;
      const hasMore = isKnown ? signOfMore(signs, answer) !== null : answer.length > 0;
      return hasMore ? [['page', String(answer.number + 1)]] : null;
    }
  }
};

/** The setting that reads all pages of a list; null if this is the only one. */
export const pageFormOf = (answer: PageAnswer): Dialect['pages'] | null => {
  const signs = signsOf(answer);
  return signOfMore(signs, answer) === null ? null : signs.link === null ? 'page' : 'link';
};

/** What an answer says of its pages; null where it says nothing. */
interface Signs {
  /** The address of the next page. */
  readonly link: string | null;
  /** Whether there is a next page. */
  readonly next: boolean | null;
  /** How many pages there are. */
  readonly count: number | null;
  /** How many elements all pages have. */
  readonly elements: number | null;
}

const signOfMore = ({ link, next, count, elements }: Signs, { number, total }: PageAnswer): string | null => {
  if (count !== null && count > number) return `page ${number} of ${count}`;
  if (elements !== null && elements > total) return `${total} of ${elements} entries`;
  if (link !== null) return 'a link to the next one';
  return next === true ? 'it says that there is a next one' : null;
};

const signsOf = ({ headers, wrapper }: PageAnswer): Signs => {
  const said = new Map<string, unknown>();
  for (const [name, value] of Object.entries(headers)) said.set(plain(name.replace(/^x-/, '')), value);
  said.delete('link');
  for (const [key, value] of Object.entries(wrapper ?? {}))
    for (const [inner, one] of isObject(value) ? Object.entries(value) : [[key, value] as const])
      said.set(plain(inner), one);
  const first = (keys: readonly string[], read: (value: unknown) => number | null): number | null =>
    keys.map((key) => read(said.get(key))).find((one) => one !== null) ?? null;
  const following = nextKeys.map((key) => said.get(key)).filter((one) => one !== undefined);
  return {
    link: linkIn(headers['link']) ?? following.find(isAddress) ?? null,
    next:
      following.length === 0 ? null : following.some((one) => one !== null && one !== false && one !== ''),
    count: first(countKeys, wholeOf),
    elements: first(totalKeys, wholeOf),
  };
};

const plain = (key: string): string => key.toLowerCase().replaceAll(/[_-]/g, '');

const nextKeys = [
  'next',
  'nextpage',
  'nextpageurl',
  'nexturl',
  'nextlink',
  'hasmore',
  'hasnext',
  'hasnextpage',
];
const countKeys = ['totalpages', 'pagecount', 'pages', 'lastpage', 'numpages', 'wptotalpages'];
const totalKeys = ['total', 'totalcount', 'totalitems', 'totalentries', 'totalrecords'];

const wholeOf = (value: unknown): number | null => {
  const number = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
};

const isAddress = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:https?:\/)?\/|^\?/.test(value);

/** RFC 8288: `<address>; rel="next"`, several separated by commas. */
const linkIn = (header: string | string[] | undefined): string | null => {
  const text = Array.isArray(header) ? header.join(', ') : (header ?? '');
  for (const [, address = '', parameters = ''] of text.slice(0, 8_192).matchAll(/<([^<>]*)>([^<]*)/g))
    if (/;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next\b)/i.test(parameters)) return address;
  return null;
};

/**
 * Only the query of a link is used: the tokens go nowhere but to the base URL, and a service behind others may not know
 * its own address.
 */
const parametersOf = (link: string, path: string): PageParameters | string => {
  const asked = `http://service.invalid${path}`;
  const url = parseUrl(link, asked);
  if (url?.pathname.endsWith(path) !== true)
    return 'the link to the next page leads to another path, which is not followed: try pages: page';
  return [...url.searchParams];
};
