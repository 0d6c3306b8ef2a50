import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { groupAlike } from '../report/worst-first.ts';
import { icons, moment, type PageClock, prose, stateIcon } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientSummary, PageFacts } from './facts.ts';
import { passesLine } from './clients.ts';

export const stateOf = ({ newest, clients }: Pick<PageFacts, 'newest' | 'clients'>): string => {
  if (clients.some(({ trouble }) => trouble !== null)) return 'failed';
  const { run, status } = newest.report;
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return run === '' || (status === 'in-sync' && isAnyUnknown) ? 'starting' : status;
};

/** The state in a word and in a line, and why it is not up to date, if so. */
export const stateSection = (facts: PageFacts): Markup => {
  const { newest, clients } = facts;
  const hasReport = newest.report.run !== '';
  const state = stateOf(facts);
  return html`<section class="now ${icons[state]?.[2] ?? state}" aria-labelledby="now-title">
    <h2 id="now-title" class="unseen">State</h2>
    <p class="state">${stateIcon(state)}</p>
    ${causes(clients, facts)}
    <p class="summary" role="status">${hasReport ? newest.summary : 'the first pass has not ended yet'}</p>
    <p class="meta">
      ${passesLine(clients, facts)} ${newest.report.dryRun && hasReport ? 'Dry run: nothing is written.' : ''}
    </p>
  </section>`;
};

/** Each cause once, with all its clients. */
export const causes = (clients: readonly ClientSummary[], clock: PageClock): Markup | string => {
  const troubled = clients.flatMap(({ client, trouble }) => (trouble === null ? [] : { client, ...trouble }));
  const groups = groupAlike(troubled, ({ why }) => why);
  if (groups.length === 0) return '';
  return html`<ul class="causes">
    ${groups.map((group) => {
      const why = escapeControl(group[0]?.why ?? '');
      const names = group.slice(0, 5).map(({ client }) => escapeControl(client));
      const more = group.length - names.length;
      const times = group.flatMap(({ knownAt }) => knownAt ?? []);
      const unknown = group.reduce((sum, one) => sum + one.unknown, 0);
      return html`<li>
        ${clients.length === 1 ? '' : html`<b>${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}</b>: `}
        ${prose(/[.!?]$/.test(why) ? why : `${why}.`, clock)}
        ${times.length === 0 ? '' : html`This shows the state of ${moment(Math.min(...times), clock)}.`}
        ${unknown === 0 ? '' : `Nothing is known yet of ${plural(unknown, 'template')}.`}
      </li>`;
    })}
  </ul>`;
};
