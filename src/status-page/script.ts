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
  link.textContent = 'Not connected since ' + local(heardAt);
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
  tellAges();
};

const local = (time) => time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });
const tellAges = () => {
  for (const time of all('main time')) {
    const at = new Date(time.dateTime);
    const seconds = (at - Date.now()) / 1000;
    const [length, unit] = units.find(([least]) => Math.abs(seconds) >= least) ?? [1, 'second'];
    time.title = local(at);
    time.dataset.ago = words.format(Math.round(seconds / length), unit);
  }
};

addEventListener('visibilitychange', connect);
addEventListener('pagehide', () => events?.close());
addEventListener('pageshow', ({ persisted }) => { if (persisted) connect(); });
setInterval(() => {
  tellAges();
  if (Date.now() < deadline) return;
  listen();
  // A hidden tab asks for the page instead: its title is what people see of it.
  if (document.hidden) return refresh();
  lose();
  connect();
}, 5000);
tellAges();
connect();
`;
