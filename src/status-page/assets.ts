import { style as reportStyle } from '../report/html-style.ts';

/** The style of reports, and what the status page needs besides. */
export const style = `${reportStyle}
html { scroll-padding-top: 2rem; }
.row summary :is(.todo, .cause) { white-space: normal; overflow: visible; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--ground); z-index: 2; }
.skip:focus { left: 1rem; top: .5rem; }
body > header { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; justify-content: space-between; }
body > header a { text-decoration: none; }
.sign-in { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0; }
.sign-in label { flex: 1 1 100%; margin-bottom: -.4rem; }
.sign-in input { flex: 1 1 16rem; max-width: 32rem; }
.sign-in input, .sign-in button { padding: .4rem .75rem; }
input:not([type=radio]), button {
  font: inherit; padding: .15rem .75rem; color: inherit; background: var(--soft);
  border: 1px solid var(--aside); border-radius: .4rem;
}
input::placeholder { color: var(--aside); opacity: 1; }
button { cursor: pointer; }
.acts { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .5rem 0; }
.acts form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; }
details.acts > form { margin: .5rem 0; }
.acts p { flex: 1 1 100%; margin: 0; }
.acts button, .acts select { padding: .3rem .9rem; }
select { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--aside); border-radius: .4rem; }
.link { color: var(--aside); font-size: .875rem; margin: 0; }
.link.live::before { content: "● "; color: var(--green); }
.link.lost { color: var(--red); font-weight: 600; }
.link.lost::before { content: "▲ "; }
.lost main { filter: grayscale(1); }
.lost .now { border-left-style: dashed; }
.way { margin: .5rem 0; font-size: .875rem; }
.filters { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; margin-top: .75rem; }
.filters .chips { margin: 0; }
.filters form { display: flex; gap: .35rem; flex: 0 1 20rem; }
.filters input { flex: 1 1 8rem; min-width: 0; }
.calm { margin: .75rem 0 0; padding-top: .5rem; border-top: 1px solid var(--line); }
.calm::before { content: "● "; color: var(--green); }
main > section[aria-labelledby=differences] { margin-top: 0; }
section > h2 { margin-bottom: .35rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem 1rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
td:last-child { padding-right: 0; }
tbody th, td:nth-child(2) { min-width: 6.5rem; }
tbody th { font-weight: 600; }
thead th { border-top: 0; padding-top: 0; color: var(--aside); font-size: .8rem; font-weight: 600; }
td p { margin: .1rem 0; }
td p:first-child { margin-top: 0; }
.records li {
  display: grid; gap: 0 .75rem; align-items: baseline; padding: .1rem 0;
  grid-template-columns: 3.5rem minmax(4rem, 2fr) minmax(0, 6fr) minmax(0, 3fr);
}
.records .content { word-break: break-all; }
figure { margin: 0; }
.chart { display: block; width: 100%; height: 5rem; margin-top: .5rem; border-bottom: 1px solid var(--line); }
rect { fill: currentColor; }
rect.none { color: var(--line); }
.axis { display: flex; justify-content: space-between; color: var(--aside); font-size: .8rem; font-variant-numeric: tabular-nums; }
@media (max-width: 40rem) {
  .filters { gap: .5rem; margin-top: .5rem; }
  .filters form { flex: 1 1 100%; }
  .filters .chips { flex: 1 1 100%; flex-wrap: nowrap; overflow-x: auto; padding-bottom: .2rem; scrollbar-width: thin; }
  .chips a { padding: .05rem .55rem; }
  .records li { display: flex; flex-wrap: wrap; padding: .3rem 0; border-top: 1px solid var(--line); gap: 0 .5rem; }
  .records .content { flex: 1 0 100%; }
  table, tbody { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { display: grid; grid-template-columns: minmax(0, 1fr); padding: .5rem 0; border-top: 1px solid var(--line); }
  tbody tr:first-child { border-top: 0; padding-top: 0; }
  th, td { border: 0; padding: .05rem 0; }
  time { white-space: normal; }
  td { display: grid; grid-template-columns: 5.5rem minmax(0, 1fr); }
  td::before { content: attr(data-label); color: var(--aside); font-size: .85rem; line-height: 1.75; }
  td > div { grid-column: 2; }
}
`;

/**
 * Keeps the page up to date: when `events` announces something new, it loads the page again and replaces its main part;
 * focus, open details and what was typed stay. A page that hears nothing any more says so: what it shows may be wrong.
 */
export const script = String.raw`
'use strict';
const root = document.documentElement;
const link = document.getElementById('link');
const all = (selector) => [...document.querySelectorAll(selector)];
let events, isLoading, isStale, heardAt = new Date(), deadline;

// The daemon repeats its state every 15 seconds.
const listen = () => { deadline = Date.now() + 45000; };
const hear = (words) => {
  heardAt = new Date();
  listen();
  root.classList.remove('lost');
  link.className = 'link live';
  link.textContent = words;
};
const lose = () => {
  if (root.classList.contains('lost')) return;
  root.classList.add('lost');
  link.className = 'link lost';
  link.textContent = 'Not connected since ' + heardAt.toLocaleTimeString();
  document.title = 'not connected · dns-template-sync';
  for (const badge of all('.now .badge')) badge.textContent = '? not connected, was ' + badge.lastChild.textContent.trim();
};

// A hidden tab closes its connection: a browser has few for one host.
const connect = () => {
  events?.close();
  if (document.hidden) return;
  listen();
  events = new EventSource(root.dataset.root + 'events');
  events.addEventListener('state', ({ data }) => {
    const wasLost = root.classList.contains('lost');
    if (!wasLost) hear('Live');
    if (wasLost || data !== root.dataset.version) refresh();
  });
  events.addEventListener('error', () => {
    if (events.readyState === EventSource.CLOSED) setTimeout(connect, 10000);
    refresh();
  });
};

const refresh = async () => {
  isStale = true;
  while (isStale && !isLoading) {
    [isStale, isLoading] = [false, true];
    try {
      const answer = await fetch(location.href, { cache: 'no-store', signal: AbortSignal.timeout(30000) });
      // To sign in again, or because the shown page no longer exists.
      if (answer.status === 401 || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(answer.statusText);
      take(new DOMParser().parseFromString(await answer.text(), 'text/html'));
    } catch {
      lose();
    }
    isLoading = false;
  }
};

// What a node is known by in the next version of the page.
const keyOf = (node) => node.nodeName === 'SUMMARY' ? 'of ' + keyOf(node.parentNode)
  : node.nodeName + (node.id || node.dataset.key || node.name && node.form?.action + node.name
    || node.getAttribute('href') || node.querySelector('summary')?.textContent || node.textContent);
const fields = 'main input:not([type=hidden]), main select';
const places = 'main :is(a, summary, button, input, select)';

const take = (next) => {
  const open = new Set(all('details[open]').map(keyOf));
  const typed = new Map(all(fields).map((field) => [keyOf(field), field.value]));
  const focused = document.activeElement.matches(places) && keyOf(document.activeElement);
  hear(events?.readyState === EventSource.OPEN ? 'Live' : 'Up to date');
  root.dataset.version = next.documentElement.dataset.version;
  document.title = next.title;
  document.getElementById('main').replaceChildren(...next.getElementById('main').childNodes);
  for (const details of all('details')) if (open.has(keyOf(details))) details.open = true;
  for (const field of all(fields)) field.value = typed.get(keyOf(field)) ?? field.value;
  if (focused) (all(places).find((place) => keyOf(place) === focused) ?? document.getElementById('main')).focus({ preventScroll: true });
};

addEventListener('visibilitychange', connect);
addEventListener('pagehide', () => events?.close());
addEventListener('pageshow', ({ persisted }) => { if (persisted) connect(); });
setInterval(() => {
  if (document.hidden || Date.now() < deadline) return;
  lose();
  connect();
}, 5000);
connect();
`;
