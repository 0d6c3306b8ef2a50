import type { DaemonContext } from '../context.ts';
import { renderOverview } from '../../status-page/overview.ts';
import { renderTemplatePage } from '../../status-page/template-page.ts';
import { renderWrites } from '../../status-page/writes-page.ts';
import { pageFacts, templateFacts, writesFacts, type PageSources } from './page-facts.ts';
import type { Pages } from './routes.ts';
import { sharedTexts } from './shared-texts.ts';

/** Each page is made once for all readers that may do the same, and again only after a change. */
export const statusPages = ({ secrets, ...sources }: PageSources & Pick<DaemonContext, 'secrets'>): Pages => {
  const shared = sharedTexts({ key: () => [sources.changeFeed.version, ...secrets()], maxAge });
  const name = (...parts: readonly unknown[]): string => JSON.stringify(parts);
  return {
    overview: (query, reader) =>
      shared(name(query, reader), () => renderOverview(pageFacts(query, reader, sources))),
    template: (template, query, reader) => {
      const facts = templateFacts(template, query, reader, sources);
      return facts && shared(name(template, query, reader), async () => renderTemplatePage(await facts()));
    },
    writes: (reader) => shared(name(reader), async () => renderWrites(await writesFacts(reader, sources))),
  };
};

/** Milliseconds. Pages show relative times, so they get old without a change. */
const maxAge = 30_000;
