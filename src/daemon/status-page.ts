import { renderPage } from '../status-page/page.ts';
import { addressOf, everything, readPageQuery, templateAddress } from '../status-page/query.ts';
import { renderTemplatePage } from '../status-page/template-page.ts';
import { pageFacts, templateFacts, type PageSources } from './page-facts.ts';
import { pacer, sharedText } from './shared-text.ts';

/** Pages as bytes: each is made once for all who look at it, until what it shows has changed. */
export interface StatusPages {
  /** The whole, or what of it a query asks for. */
  readonly page: (query: URLSearchParams) => Promise<Uint8Array<ArrayBuffer>>;
  /** Of the templates of this name; of one client, or of all. Null where there is none. */
  readonly template: (name: string, client: string | null) => Promise<Uint8Array<ArrayBuffer>> | null;
}

export const statusPages = (sources: PageSources): StatusPages => {
  const { changeFeed, secrets } = sources;
  const shared = (make: () => string | Promise<string>, pace = pacer()): ReturnType<typeof sharedText> =>
    sharedText({ key: () => [changeFeed.version, ...secrets()], make, maxAge, pace });
  const whole = shared(async () => renderPage(await pageFacts(everything, sources)));
  // There are as many others as people can think of: together they take what one may.
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

/** Milliseconds. Times pass by, though nothing else may change. */
const maxAge = 30_000;

/** Pages that are kept. */
const maxKept = 16;
