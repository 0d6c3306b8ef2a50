/**
 * Keeps the page up to date: when `events` announces something new, it loads the page again and replaces its main part;
 * focus and what was typed stay. A page that hears nothing any more says so: what it shows may be wrong.
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
const keyOf = (node) => node.nodeName
  + (node.id || node.name && node.form?.action + node.name || node.getAttribute('href') || node.textContent);
const fields = 'main input:not([type=hidden]), main select';
const places = 'main :is(a, button, input, select)';

const take = (next) => {
  const typed = new Map(all(fields).map((field) => [keyOf(field), field.value]));
  const focused = document.activeElement.matches(places) && keyOf(document.activeElement);
  hear(events?.readyState === EventSource.OPEN ? 'Live' : 'Up to date');
  root.dataset.version = next.documentElement.dataset.version;
  document.title = next.title;
  document.getElementById('main').replaceChildren(...next.getElementById('main').childNodes);
  localise();
  for (const field of all(fields)) field.value = typed.get(keyOf(field)) ?? field.value;
  if (focused) (all(places).find((place) => keyOf(place) === focused) ?? document.getElementById('main')).focus({ preventScroll: true });
};

// In the reader's time zone; as the server says them on hover.
const localise = () => {
  for (const time of all('main time')) [time.title, time.textContent] = [time.textContent, new Date(time.dateTime).toLocaleString()];
};

addEventListener('visibilitychange', connect);
addEventListener('pagehide', () => events?.close());
addEventListener('pageshow', ({ persisted }) => { if (persisted) connect(); });
setInterval(() => {
  if (document.hidden || Date.now() < deadline) return;
  lose();
  connect();
}, 5000);
localise();
connect();
`;
