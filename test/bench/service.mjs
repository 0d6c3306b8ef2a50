// A hosting service in a process of its own, which answers at once: what a measure finds is the program's time.
// Forked with TEMPLATES and RECORDS; tells its parent where it listens, and of each write what it was and when it came. Where
// tokens end in numbers (`…-client-7`), each client has templates of its own. FAULTS: the share of requests that fail.
import { createServer } from 'node:http';
import { recordOf, templateName } from './records.mjs';

const [templateCount, recordCount, faults] = ['TEMPLATES', 'RECORDS', 'FAULTS'].map((name) =>
  Number(process.env[name]),
);

/** Between the ids of one client and those of the next. */
const idsOfClient = 1_000_000;
let lastId = 1_000 * idsOfClient;

/** The templates of a client, the text of each, made anew when it changes, and that of the whole list. */
const newState = (client) => {
  const templates = Array.from({ length: templateCount }, (_, index) => ({
    id: client * idsOfClient + index + 1,
    name: templateName(index),
    publicly_available: false,
    subdomains: 0,
    dns_template_records: Array.from({ length: recordCount }, (__, record) => ({
      id: client * idsOfClient + index * recordCount + record + 1,
      ...recordOf(record),
      ttl: 3600,
    })),
  }));
  return { templates, texts: templates.map((template) => JSON.stringify(template)), listing: null };
};

const states = new Map();

const stateOf = (client) => {
  const state = states.get(client) ?? newState(client);
  states.set(client, state);
  return state;
};

const write = (state, id, operation, parameters) => {
  const index = (id % idsOfClient) - 1;
  const { dns_template_records: records } = state.templates[index];
  const { type, name = null, content } = parameters;
  if (operation === 'add_record') {
    lastId += 1;
    records.push({ id: lastId, type, name, content, priority: null, ttl: 3600 });
  } else if (content !== undefined) {
    records.find((one) => one.id === Number(parameters.record_id)).content = content;
  }
  state.texts[index] = JSON.stringify(state.templates[index]);
  state.listing = null;
  process.send({ written: performance.timeOrigin + performance.now(), id, content });
  return state.texts[index];
};

const answerTo = ({ pathname, searchParams }, form) => {
  const parameters = Object.fromEntries(new URLSearchParams(form || searchParams));
  const state = stateOf(Number(/-client-(\d+)$/.exec(parameters.client_token)?.[1] ?? 0));
  if (pathname.endsWith('/dns_templates')) return (state.listing ??= Buffer.from(`[${state.texts.join()}]`));
  const [, id, operation] = /\/dns_templates\/(\d+)\/(\w+)$/.exec(pathname);
  return write(state, Number(id), operation, parameters);
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
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () =>
  process.send({ url: `http://127.0.0.1:${server.address().port}/api/v1` }),
);
process.on('disconnect', () => process.exit());
