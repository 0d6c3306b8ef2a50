import { randomUUID } from 'node:crypto';
import type { Acting } from '../../status-page/actions.ts';
import { renderPage } from '../../status-page/page.ts';
import { addressOf, everything, readPageQuery, templateAddress } from '../../status-page/query.ts';
import { renderTemplatePage } from '../../status-page/template-page.ts';
import { pageFacts, templateFacts, type PageSources } from './page-facts.ts';
import { pacer, sharedText } from './shared-text.ts';

/** Pages as bytes. Each is made once for all readers that may do the same, and again only after a change. */
export interface StatusPages {
  /** The overview, filtered by the query. */
  readonly page: (query: URLSearchParams, acting: Acting) => Promise<Uint8Array<ArrayBuffer>>;
  /** The page of the templates of this name, of one client or of all; null if there is none. */
  readonly template: (
    name: string,
    client: string | null,
    acting: Acting,
  ) => Promise<Uint8Array<ArrayBuffer>> | null;
}

export const statusPages = (sources: Omit<PageSources, 'acting'>): StatusPages => {
  const { changeFeed, secrets } = sources;
  const shared = (make: () => string | Promise<string>, pace = pacer()): ReturnType<typeof sharedText> =>
    sharedText({ key: () => [changeFeed.version, secrets()], make, maxAge, pace });
  const overviews = new Map(
    (['off', 'signed-out', 'signed-in'] as const).map((kind) => [
      kind,
      shared(async () => renderPage(await pageFacts(everything, { ...sources, acting: shownTo[kind] }))),
    ]),
  );
  // The number of other pages is unlimited, so together they may take as much time as one.
  const others = new Map<string, ReturnType<typeof sharedText>>();
  const pace = pacer();
  const other = (address: string, make: () => Promise<string>): Promise<Uint8Array<ArrayBuffer>> => {
    const text = others.get(address) ?? shared(make, pace);
    others.delete(address);
    others.set(address, text);
    const [oldest] = others.keys();
    if (others.size > maxKept && oldest !== undefined) others.delete(oldest);
    return text();
  };
  return {
    page: async (parameters, acting) => {
      const query = readPageQuery(parameters);
      const address = addressOf(query);
      if (address === addressOf(everything)) return filledIn(await overviews.get(acting.kind)!(), acting);
      const page = await other(`${acting.kind} ${address}`, async () =>
        renderPage(await pageFacts(query, { ...sources, acting: shownTo[acting.kind] })),
      );
      return filledIn(page, acting);
    },
    template: (name, client, acting) =>
      sources.manager.clients.some(({ client: { settings }, newest, templates }) =>
        client === null || settings.name === client
          ? templates.described(name).length > 0 ||
            newest?.templates.some(({ template }) => template === name)
          : false,
      )
        ? other(`${acting.kind} ${templateAddress(name, client)}`, async () =>
            renderTemplatePage(
              await templateFacts(name, client, { ...sources, acting: shownTo[acting.kind] }),
            ),
          ).then((page) => filledIn(page, acting))
        : null,
  };
};

/** What stands in shared pages where each reader gets their own. Nobody can know it, so no text has it by chance. */
const [formToken, outcome] = [randomUUID(), randomUUID()];

const shownTo: Readonly<Record<Acting['kind'], Acting>> = {
  off: { kind: 'off' },
  'signed-out': { kind: 'signed-out' },
  'signed-in': { kind: 'signed-in', formToken, outcome },
};

const filledIn = (page: Uint8Array<ArrayBuffer>, acting: Acting): Uint8Array<ArrayBuffer> => {
  if (acting.kind !== 'signed-in') return page;
  const own = typeof acting.outcome === 'string' ? acting.outcome : acting.outcome.source;
  const parts: Uint8Array[] = [];
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  let from = 0;
  for (const [mark, text] of marksIn(bytes)) {
    parts.push(bytes.subarray(from, mark), Buffer.from(text === formToken ? acting.formToken : own));
    from = mark + text.length;
  }
  return new Uint8Array(Buffer.concat([...parts, bytes.subarray(from)]));
};

/** The places of both, in order. */
const marksIn = (bytes: Buffer): (readonly [at: number, mark: string])[] => {
  const found: [number, string][] = [];
  for (const mark of [formToken, outcome])
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + mark.length))
      found.push([at, mark]);
  return found.sort(([one], [other]) => one - other);
};

/** Milliseconds. Pages show relative times, so they get old without a change. */
const maxAge = 30_000;

/** Pages in the cache. */
const maxKept = 16;
