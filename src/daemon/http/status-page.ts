import { renderPage } from '../../status-page/page.ts';
import { addressOf, everything, readPageQuery, templateAddress } from '../../status-page/query.ts';
import { renderTemplatePage } from '../../status-page/template-page.ts';
import { pageFacts, templateFacts, type PageSources } from './page-facts.ts';
import { pacer, sharedText } from './shared-text.ts';

/** Pages as bytes. Each is made once for all readers, and again only after a change. */
export interface StatusPages {
  /** The overview, filtered by the query. */
  readonly page: (query: URLSearchParams) => Promise<Uint8Array<ArrayBuffer>>;
  /** The page of the templates of this name, of one client or of all; null if there is none. */
  readonly template: (name: string, client: string | null) => Promise<Uint8Array<ArrayBuffer>> | null;
}

export const statusPages = (sources: PageSources): StatusPages => {
  const { changeFeed, secrets } = sources;
  const shared = (make: () => string | Promise<string>, pace = pacer()): ReturnType<typeof sharedText> =>
    sharedText({ key: () => [changeFeed.version, secrets()], make, maxAge, pace });
  const whole = shared(async () => renderPage(await pageFacts(everything, sources)));
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
    page: (parameters) => {
      const query = readPageQuery(parameters);
      const address = addressOf(query);
      if (address === addressOf(everything)) return whole();
      return other(address, async () => renderPage(await pageFacts(query, sources)));
    },
    template: (name, client) =>
      sources.manager.clients.some(({ client: { settings }, newest, templates }) =>
        client === null || settings.name === client
          ? templates.described(name).length > 0 ||
            newest?.templates.some(({ template }) => template === name)
          : false,
      )
        ? other(templateAddress(name, client), async () =>
            renderTemplatePage(await templateFacts(name, client, sources)),
          )
        : null,
  };
};

/** Milliseconds. Pages show relative times, so they get old without a change. */
const maxAge = 30_000;

/** Pages in the cache. */
const maxKept = 16;
