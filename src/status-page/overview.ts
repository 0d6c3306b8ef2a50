import { plural } from '../lib/plural.ts';
import { html, type Markup } from '../report/markup.ts';
import type { ClientFacts, PageFacts } from './facts.ts';
import { duration, moment, reasonOf } from './words.ts';

/** The four answers that most people come for. */
export const overview = ({ newest, clients, now }: Pick<PageFacts, 'newest' | 'clients' | 'now'>): Markup => {
  const { inSync, templates, ...counts } = newest.report.summary;
  const kinds = [
    [counts.add, 'to add'],
    [counts.update, 'to change'],
    [counts.park, 'to park'],
    [counts.surplus, 'surplus'],
    [counts.blocked, 'blocked'],
    [counts.subdomainDifferences, 'in subdomains'],
  ] as const;
  const differing = kinds.reduce((sum, [count]) => sum + count, 0);
  return html`<dl class="tiles">
    ${tile(
      'In sync',
      inSync.toLocaleString('en'),
      listed([inSync === 1 ? 'record' : 'records', `in ${plural(templates, 'template')}`], ''),
    )}
    ${tile(
      'Differ',
      differing.toLocaleString('en'),
      listed(kinds.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)),
    )}
    ${lastTile(clients, now)} ${nextTile(clients, now)}
  </dl>`;
};

const tile = (term: string, value: string | Markup, aside: Markup): Markup =>
  html`<div>
    <dt>${term}</dt>
    <dd>
      <b>${value}</b>
      <p class="aside">${aside}</p>
    </dd>
  </div>`;

/** Broken into lines only between its parts. */
const listed = (parts: readonly string[], between = ','): Markup =>
  html`${parts.map((part, index) => html`<span>${part}${index < parts.length - 1 ? between : ''}</span>`)}`;

const lastTile = (clients: readonly ClientFacts[], now: number): Markup => {
  const [last] = clients
    .flatMap(({ lastPass }) => lastPass ?? [])
    .sort((one, other) => other.startedAt - one.startedAt);
  return last === undefined
    ? tile('Last pass', 'none yet', listed([]))
    : tile(
        'Last pass',
        moment(last.startedAt, now),
        listed([reasonOf(last.trigger), `took ${duration(last.durationMs)}`]),
      );
};

const nextTile = (clients: readonly ClientFacts[], now: number): Markup => {
  const running = clients.find((client) => client.running !== null);
  if (running?.running) return tile('Next pass', 'running', listed([reasonOf(running.running)]));
  const [next] = clients.flatMap(comingPass).sort((one, other) => one.at - other.at);
  return next === undefined
    ? tile('Next pass', 'not planned', listed([]))
    : tile('Next pass', moment(next.at, now), listed([next.why]));
};

/** While a client backs off, its schedule waits too. */
const comingPass = ({ pausedUntil, nextScheduled }: ClientFacts): { at: number; why: string }[] => {
  if (pausedUntil !== null) return [{ at: pausedUntil, why: 'tries again after a failed one' }];
  return nextScheduled === null ? [] : [{ at: nextScheduled, why: 'on schedule' }];
};
