import { icon } from './icon.ts';

/**
 * Keeps the page up to date. When `/events` announces something new, it loads the page again and updates what
 * differs in place: focus, open details and scroll position stay. A page that hears nothing any more says so in its
 * title, icon and state: what it shows may be wrong by now.
 */
export const script = String.raw`
'use strict';
const link = document.getElementById('link');
const asOf = link.querySelector('time');
let events = null;
let asking = null;
let isStale = false;
let retry = 0;
let heardAt = new Date(asOf.dateTime);
let deadline = 0;
let isLost = false;

// The daemon repeats its state every 15 seconds.
const listen = () => { deadline = Date.now() + 45000; };
const hear = () => { heardAt = new Date(); listen(); };

const show = (kind, words) => {
  link.className = 'link ' + kind;
  link.replaceChildren(...words);
};

const lost = () => {
  if (isLost) return;
  isLost = true;
  const time = document.createElement('time');
  time.dateTime = heardAt.toISOString();
  time.textContent = heardAt.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  show('lost', ['Not connected since ', time]);
  document.documentElement.classList.add('lost');
  document.title = 'not connected · dns-template-sync';
  document.querySelector('link[rel=icon]').href = '${icon('lost')}';
  for (const badge of document.querySelectorAll('.now .badge')) badge.textContent = '? not connected, was ' + badge.lastChild.textContent.trim();
};

const connect = () => {
  clearTimeout(retry);
  events?.close();
  events = null;
  // A hidden tab closes its connection: a browser has few of them for one host.
  if (document.hidden) return;
  listen();
  events = new EventSource('/events');
  events.addEventListener('state', ({ data }) => {
    hear();
    show('live', ['Live']);
    if (isLost || data !== document.documentElement.dataset.version) refresh();
  });
  events.addEventListener('error', () => {
    refresh();
    if (events.readyState === EventSource.CLOSED) retry = setTimeout(connect, 10000);
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
    const address = location.pathname + location.search;
    const answer = await fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(30000) });
    // To sign in again, or because the shown page no longer exists.
    if (answer.status === 401 || answer.status === 404) return location.reload();
    if (!answer.ok) throw new Error(answer.statusText);
    const text = await answer.text();
    if (address === location.pathname + location.search) take(new DOMParser().parseFromString(text, 'text/html'));
  } catch {
    lost();
  }
};

const take = (next) => {
  const focused = document.activeElement;
  hear();
  if (isLost) {
    isLost = false;
    document.documentElement.classList.remove('lost');
    if (events?.readyState !== EventSource.OPEN) show('', ['As of ', asOf]);
  }
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

// What distinguishes a node from its neighbours of the same name, so that it is found again after changes.
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

const ours = new Set(['open', 'data-ago', 'title']);

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
  for (const time of document.querySelectorAll('time')) {
    const at = new Date(time.dateTime);
    const local = at.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' });
    if (time.title !== local) time.title = local;
    const seconds = (at - Date.now()) / 1000;
    const [length, unit] = units.find(([least]) => Math.abs(seconds) >= least) ?? [1, 'second'];
    time.dataset.ago = words.format(Math.round(seconds / length), unit);
  }
};

// The link leads to another address of the same page: it is loaded in place, so that the focus stays.
const go = (address, isNew) => {
  if (isNew) history.pushState(null, '', address);
  else history.replaceState(null, '', address);
  refresh();
};

const formAddress = (form) => {
  const fields = [...new FormData(form)].filter(([, value]) => value.trim() !== '');
  return fields.length === 0 ? '/' : '/?' + new URLSearchParams(fields);
};

const isPlain = (event) => event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);

addEventListener('click', (event) => {
  const place = event.target.closest?.('a[data-stay]');
  if (!place || !isPlain(event)) return;
  event.preventDefault();
  const field = document.getElementById('q');
  if (field) field.value = new URL(place.href).searchParams.get('q') ?? '';
  go(place.getAttribute('href'), true);
});
addEventListener('submit', (event) => {
  if (!event.target.matches('[data-stay]')) return;
  event.preventDefault();
  go(formAddress(event.target), true);
});
let typing = 0;
addEventListener('input', ({ target }) => {
  if (target.id !== 'q') return;
  clearTimeout(typing);
  typing = setTimeout(() => go(formAddress(target.form), false), 200);
});
addEventListener('keydown', (event) => {
  const field = document.getElementById('q');
  if (event.key !== '/' || !field || event.ctrlKey || event.metaKey || event.target.closest?.('input, textarea')) return;
  event.preventDefault();
  field.select();
  field.focus();
});
addEventListener('popstate', () => {
  const field = document.getElementById('q');
  if (field) field.value = new URLSearchParams(location.search).get('q') ?? '';
  refresh();
});

addEventListener('visibilitychange', connect);
addEventListener('pagehide', () => events?.close());
addEventListener('pageshow', ({ persisted }) => { if (persisted) connect(); });
tellAges();
setInterval(() => {
  tellAges();
  if (Date.now() < deadline) return;
  listen();
  // A hidden tab asks for the page instead: its title and icon are what people see of it.
  if (document.hidden) return refresh();
  lost();
  connect();
}, 5000);
connect();
`;
