/**
 * Keeps the page up to date. The daemon says that there is something new (`/events`), the page is asked for again,
 * and what differs in it is changed in place: the focus, what is unfolded and where one reads stay as they are.
 */
export const script = String.raw`
'use strict';
const link = document.getElementById('link');
const asOf = link.querySelector('time');
let events = null;
let asking = null;
let isStale = false;
let retry = 0;

const show = (kind, words) => {
  link.className = 'link ' + kind;
  link.replaceChildren(...words);
};

const lost = () => show('lost', ['Not connected: this is how it was at ', asOf]);

const connect = () => {
  clearTimeout(retry);
  events?.close();
  events = null;
  // A tab that nobody sees gives its connection back: a browser has few of them for one host.
  if (document.hidden) return;
  events = new EventSource('/events');
  events.addEventListener('state', ({ data }) => {
    show('live', ['Live']);
    if (data !== document.documentElement.dataset.version) refresh();
  });
  events.addEventListener('error', () => {
    lost();
    if (events.readyState === EventSource.CLOSED) {
      retry = setTimeout(() => { connect(); refresh(); }, 10000);
    }
  });
};

const refresh = async () => {
  isStale = true;
  if (asking) return;
  while (isStale) {
    isStale = false;
    asking = load();
    await asking;
    asking = null;
  }
};

const load = async () => {
  try {
    const answer = await fetch('/', { cache: 'no-store' });
    // To sign in again.
    if (answer.status === 401) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    take(new DOMParser().parseFromString(await answer.text(), 'text/html'));
  } catch {
    lost();
  }
};

const take = (next) => {
  const focused = document.activeElement;
  document.documentElement.dataset.version = next.documentElement.dataset.version;
  document.title = next.title;
  change(asOf, next.querySelector('#link time'));
  change(document.querySelector('link[rel=icon]'), next.querySelector('link[rel=icon]'));
  change(document.getElementById('main'), next.getElementById('main'));
  tellAges();
  if (focused === document.activeElement || focused === document.body) return;
  const place = focused.isConnected ? focused : document.getElementById('main');
  place.focus({ preventScroll: true });
};

// What tells a node from its neighbours of the same name, so that it is found again when some come and go.
const keyOf = (node) => {
  if (node.nodeType !== Node.ELEMENT_NODE) return node.nodeName;
  const key = node.id || node.dataset.key;
  if (key) return node.nodeName + ' ' + key;
  if (node.parentNode?.classList.contains('rows')) {
    return [...node.querySelectorAll('.sign, .type, .name')].map((part) => part.textContent).join(' ');
  }
  if (node.nodeName === 'TR') return node.querySelector('time')?.dateTime ?? node.nodeName;
  return node.nodeName;
};

const ours = new Set(['open', 'data-ago']);

const change = (old, next) => {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== next.data) old.data = next.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    if (!next.hasAttribute(name) && !ours.has(name)) old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value && !ours.has(name)) old.setAttribute(name, value);
  }
  const known = new Map();
  for (const child of old.childNodes) known.set(keyOf(child), [...(known.get(keyOf(child)) ?? []), child]);
  let place = old.firstChild;
  for (const child of [...next.childNodes]) {
    const same = known.get(keyOf(child))?.shift();
    if (same) change(same, child);
    const node = same ?? document.adoptNode(child);
    if (node === place) place = place.nextSibling;
    else old.insertBefore(node, place);
  }
  for (const gone of known.values()) for (const child of gone) child.remove();
};

const units = [[86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

const tellAges = () => {
  for (const time of document.querySelectorAll('main time')) {
    const seconds = (Date.parse(time.dateTime) - Date.now()) / 1000;
    const [length, unit] = units.find(([least]) => Math.abs(seconds) >= least) ?? [1, 'second'];
    time.dataset.ago = words.format(Math.round(seconds / length), unit);
  }
};

addEventListener('visibilitychange', connect);
addEventListener('pagehide', () => events?.close());
addEventListener('pageshow', ({ persisted }) => { if (persisted) connect(); });
tellAges();
setInterval(tellAges, 5000);
connect();
`;
