import { escapeControl } from '../lib/escape-control.ts';
import { groupAlike } from '../report/worst-first.ts';
import { moment, type PageClock, prose, stateIcon, icons } from '../report/html-words.ts';
import { html, type Markup } from '../report/markup.ts';
import { plural } from '../lib/plural.ts';
import type { ClientSummary, PageFacts } from './facts.ts';
import { duration, reasonOf } from './words.ts';

/** The state in a word and in a line, and why it is not up to date, if so. */
export const stateOf = ({ newest, clients }: Pick<PageFacts, 'newest' | 'clients'>): string => {
  if (clients.some(({ trouble }) => trouble !== null)) return 'failed';
  const { run, status } = newest.report;
  const isAnyUnknown = clients.some(({ health }) => health === 'starting');
  return run === '' || (status === 'in-sync' && isAnyUnknown) ? 'starting' : status;
};

export const stateSection = (facts: PageFacts): Markup => {
  const { newest, clients } = facts;
  const hasReport = newest.report.run !== '';
  const state = stateOf(facts);
  return html`<section id="now" class="now ${icons[state]?.[2] ?? state}" aria-labelledby="now-title">
    <h2 id="now-title" class="unseen">State</h2>
    <p class="state">${stateIcon(state)}</p>
    ${causes(clients, facts)}
    <p class="summary" role="status">${hasReport ? newest.summary : 'the first pass has not ended yet'}</p>
    <p class="meta">
      ${lastPass(clients, facts)}. ${nextPass(clients, facts)}.
      ${newest.report.dryRun && hasReport ? 'Dry run: nothing is written.' : ''}
    </p>
  </section>`;
};

/** Each cause once, with all its clients. */
export const causes = (clients: readonly ClientSummary[], clock: PageClock): Markup | string => {
  const kept = clients.flatMap(({ client, trouble, backoffUntil, lastPass }) =>
    trouble === null ? [] : [{ client, backoffUntil, lastPass, ...trouble }],
  );
  const groups = groupAlike(kept, ({ why }) => why);
  if (groups.length === 0) return '';
  return html`<ul class="causes">
    ${groups.map((group) => {
      const why = group[0]?.why ?? '';
      const names = group.slice(0, 5).map(({ client }) => escapeControl(client));
      const more = group.length - names.length;
      return html`<li>
        ${clients.length === 1 ? '' : html`<b>${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}</b>: `}
        ${prose(sentence(escapeControl(why)), clock)} ${known(group, clock)}
      </li>`;
    })}
  </ul>`;
};

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

const known = (
  group: readonly { readonly knownAt: number | null; readonly unknown: number }[],
  clock: PageClock,
): Markup => {
  const times = group.flatMap(({ knownAt }) => knownAt ?? []);
  const unknown = group.reduce((sum, one) => sum + one.unknown, 0);
  return html`${times.length === 0 ? '' : html`This shows the state of ${moment(Math.min(...times), clock)}.`}
  ${unknown === 0 ? '' : `Nothing is known yet of ${plural(unknown, 'template')}.`}`;
};

const lastPass = (clients: readonly ClientSummary[], clock: PageClock): Markup => {
  const [last] = clients
    .flatMap((client) => client.lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  return last === undefined
    ? html`No pass has ended yet`
    : html`Last pass ${moment(last.startedAt, clock)}, ${reasonOf(last.trigger)}, took
      ${duration(last.durationMs)}`;
};

const nextPass = (clients: readonly ClientSummary[], clock: PageClock): Markup => {
  const running = clients.find((client) => client.running !== null);
  if (running?.running) return html`A pass is running, ${reasonOf(running.running)}`;
  const [next] = clients.flatMap(comingPass).sort((one, other) => one.at - other.at);
  return next === undefined
    ? html`No next pass is planned`
    : html`Next pass ${moment(next.at, clock)}, ${next.why}`;
};

/** While a client backs off, its schedule has no effect. */
const comingPass = ({ backoffUntil, nextScheduled }: ClientSummary): { at: number; why: string }[] => {
  if (backoffUntil !== null) return [{ at: backoffUntil, why: 'after one that failed' }];
  return nextScheduled === null ? [] : [{ at: nextScheduled, why: 'on schedule' }];
};

/** The title of the tab. */
export const titleOf = (state: string): string => icons[state]?.[1] ?? state;
