import { createServer } from 'node:http';

/**
 * A hosting service that answers at once: client N has template N, which begins with one record. Listens on a port of
 * its own, tells it to its parent, and tells of each write.
 */
const templates = new Map();

const templateOf = (id) => {
  const known = templates.get(id) ?? [record(id * 100, '192.0.2.1')];
  templates.set(id, known);
  return {
    id,
    name: `web-${id}`,
    publicly_available: false,
    subdomains: 0,
    dns_template_records: known,
  };
};

const record = (id, content) => ({ id, type: 'A', name: null, content, ttl: null, priority: null });

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const url = new URL(request.url, 'http://localhost');
    const parameters = new URLSearchParams(Buffer.concat(chunks).toString() || url.search);
    const id = Number(/client-(\d+)/.exec(parameters.get('client_token'))[1]);
    if (request.method === 'GET') response.end(JSON.stringify([templateOf(id)]));
    else {
      process.send({ write: id, content: parameters.get('content'), at: Date.now() });
      const records = templateOf(id).dns_template_records;
      records.push(record(id * 100 + records.length, parameters.get('content')));
      response.end(JSON.stringify(templateOf(id)));
    }
  });
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
