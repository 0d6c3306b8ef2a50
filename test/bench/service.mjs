// A hosting service in a process of its own, which answers at once: what a measure finds is the program's time.
// Forked with TEMPLATES and RECORDS; tells its parent where it listens, and of each write when it came. Where tokens end in
// numbers (`…-client-7`), each client has templates of its own, which nobody writes. FAULTS: the share of requests that fail.
import { createServer } from 'node:http';
import { recordOf, templateName } from './records.mjs';

const [templateCount, recordCount, faults] = ['TEMPLATES', 'RECORDS', 'FAULTS'].map((name) =>
  Number(process.env[name]),
);
let lastId = 0;
const templates = Array.from({ length: templateCount }, (_, index) => ({
  id: index + 1,
  name: templateName(index),
  publicly_available: false,
  subdomains: 0,
  dns_template_records: Array.from({ length: recordCount }, (__, record) => {
    lastId += 1;
    return { id: lastId, ...recordOf(record), ttl: 3600 };
  }),
}));

/** The text of each template, made anew when it changes, and that of the whole list. */
const texts = templates.map((template) => JSON.stringify(template));
let listing = null;

const change = (index) => {
  texts[index] = JSON.stringify(templates[index]);
  listing = null;
  process.send({ written: performance.timeOrigin + performance.now() });
  return texts[index];
};

const write = (id, operation, parameters) => {
  const { dns_template_records: records } = templates[id - 1];
  if (operation === 'add_record') {
    lastId += 1;
    const { type, content } = parameters;
    records.push({ id: lastId, type, name: parameters.name ?? null, content, priority: null, ttl: 3600 });
  } else {
    const record = records.find((one) => one.id === Number(parameters.record_id));
    if (parameters.content !== undefined) record.content = parameters.content;
  }
  return change(id - 1);
};

/** Any subdomain follows the first template. */
const derived = () =>
  templates[0].dns_template_records.map((record) => ({
    ...record,
    id: record.id + 1_000_000,
    dns_template_record_id: record.id,
  }));

/** The same with other ids. */
const listingOf = (client) => {
  const offset = client * 1_000_000;
  const moved = templates.map((template) => ({
    ...template,
    id: template.id + offset,
    dns_template_records: template.dns_template_records.map((one) => ({ ...one, id: one.id + offset })),
  }));
  return Buffer.from(JSON.stringify(moved));
};

const listings = new Map();

const answerTo = ({ pathname, searchParams }, form) => {
  const client = Number(/-client-(\d+)$/.exec(searchParams.get('client_token'))?.[1] ?? 0);
  if (client > 0) {
    const known = listings.get(client) ?? listingOf(client);
    listings.set(client, known);
    return known;
  }
  if (pathname.endsWith('/dns_templates')) return (listing ??= Buffer.from(`[${texts.join()}]`));
  if (pathname.endsWith('/dns_records')) return JSON.stringify(derived());
  const [, id, operation] = /\/dns_templates\/(\d+)\/(\w+)$/.exec(pathname);
  return write(Number(id), operation, Object.fromEntries(new URLSearchParams(form)));
};

const server = createServer((request, response) => {
  let form = '';
  request.on('data', (chunk) => (form += chunk));
  request.on('end', () => {
    const chance = Math.random();
    if (chance < faults / 2) return response.writeHead(503).end('not now');
    if (chance < faults) return request.socket.resetAndDestroy();
    const body = answerTo(new URL(request.url, 'http://service'), form);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
});
server.listen(0, '127.0.0.1', () =>
  process.send({ url: `http://127.0.0.1:${server.address().port}/api/v1` }),
);
process.on('disconnect', () => process.exit());
