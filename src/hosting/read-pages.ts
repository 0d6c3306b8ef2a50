import { sameElements } from '../lib/same-elements.ts';
import type { Answered, Call } from './call.ts';
import { HostingError } from './errors.ts';
import type { PageParameters } from './pages.ts';

/**
 * Reads a list with all its pages, or throws. `read` gives one page within so many milliseconds; the time is for all of
 * them.
 */
export const readPages = async <T extends { readonly id: number }>(
  call: Call<readonly T[]>,
  timeout: number,
  read: (page: Call<readonly T[]>, timeout: number) => Promise<Answered<readonly T[]>>,
): Promise<readonly (readonly T[])[]> => {
  const end = performance.now() + timeout;
  const pages: (readonly T[])[] = [];
  const ids = new Set<number>();
  let parameters: PageParameters = [];
  for (let number = 1; ; number += 1) {
    const left = end - performance.now();
    if (left <= 0) throw failed(call, `${pages.length} pages took longer than requestTimeout allows for all`);
    const page = { ...call, page: parameters, list: { number, before: ids.size } };
    const { value, next } = await read(page, left);
    if (number === 2 && isUnpaged(call, pages[0]!, value)) return pages;
    // A list of one page may have them twice: the schema knows.
    if (number > 1 || next !== null) noteIds(call, value, ids, number);
    pages.push(value);
    if (next === null) return pages;
    parameters = next;
  }
};

/**
 * Not every list of a service has pages: one that has none gives all of it again. Templates must not be missing, so for
 * them that is an error.
 */
const isUnpaged = (
  { operation }: Call<unknown>,
  first: readonly { readonly id: number }[],
  second: readonly { readonly id: number }[],
): boolean =>
  operation !== 'list-dns-templates' &&
  sameElements(
    first.map(({ id }) => id),
    second.map(({ id }) => id),
  );

/** The same entry twice: the list changed meanwhile, or the service gives the same page again. */
const noteIds = (
  call: Call<unknown>,
  page: readonly { readonly id: number }[],
  ids: Set<number>,
  number: number,
): void => {
  for (const { id } of page) {
    if (ids.has(id))
      throw failed(
        call,
        `page ${number} has ${id} again: the list changed while it was read, or the service does not know this way of asking for pages`,
      );
    ids.add(id);
  }
};

const failed = ({ operation }: Call<unknown>, message: string): HostingError =>
  new HostingError(message, { operation, kind: 'bad-answer' });

/** Joins pages; gives the same array as long as the pages are the same arrays. */
export const pageJoiner = <T>(): ((pages: readonly (readonly T[])[]) => readonly T[]) => {
  let known: { readonly pages: readonly (readonly T[])[]; readonly whole: readonly T[] } | null = null;
  return (pages) => {
    if (pages.length === 1) return pages[0]!;
    if (known === null || !sameElements(known.pages, pages)) known = { pages, whole: pages.flat() };
    return known.whole;
  };
};
