import { Agent, createServer, request } from 'node:http';
import { once } from 'node:events';

/**
 * Stands before a service, passes requests on and now and then goes wrong, by chance. A fault before the service
 * means that nothing happened there; one after it, that it did and nobody is told.
 */
export const startFaultyFront = async (target, random) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const faults = { count: 0 };
  const server = createServer((incoming, outgoing) => {
    const fault = faultBy(random());
    if (fault !== null) faults.count += 1;
    if (fault?.before) return fault.before(incoming, outgoing);
    const forward = request(
      new URL(incoming.url, target),
      { method: incoming.method, headers: { ...incoming.headers, host: target.host }, agent },
      (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('end', () => {
          const body = Buffer.concat(chunks);
          if (fault?.after) return fault.after(outgoing, body);
          outgoing.writeHead(answer.statusCode, { 'content-type': 'application/json' }).end(body);
        });
      },
    );
    forward.on('error', () => outgoing.destroy());
    incoming.pipe(forward);
  });
  const connections = { open: 0, most: 0 };
  server.on('connection', (socket) => {
    connections.open += 1;
    connections.most = Math.max(connections.most, connections.open);
    socket.on('close', () => (connections.open -= 1));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    faults,
    /** The most at a time since this was asked for last. */
    mostConnections: () => {
      const { open, most } = connections;
      connections.most = open;
      return most;
    },
    close: () => {
      agent.destroy();
      server.close();
      server.closeAllConnections();
    },
  };
};

const status = (code, headers = {}) => ({
  before: (incoming, outgoing) => {
    incoming.resume();
    outgoing.writeHead(code, headers).end('not now');
  },
});

/** Each with its share of all requests. */
const shares = [
  [0.015, status(500)],
  [0.01, status(503)],
  [0.003, status(429, { 'retry-after': '1' })],
  [0.002, status(401)],
  [0.01, { before: (incoming) => incoming.socket.resetAndDestroy() }],
  [0.01, { after: (outgoing) => outgoing.socket?.resetAndDestroy() }],
  [0.01, { after: (outgoing, body) => outgoing.writeHead(200).end(body.subarray(0, body.length / 2)) }],
  [
    0.01,
    {
      after: (outgoing, body) => {
        outgoing.writeHead(200, { 'content-length': body.length });
        outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
      },
    },
  ],
  [0.002, { before: (incoming) => void incoming.resume() }],
  [0.02, { after: (outgoing, body) => setTimeout(() => outgoing.writeHead(200).end(body), 200) }],
];

const faultBy = (chance) => {
  let sum = 0;
  for (const [share, fault] of shares) {
    sum += share;
    if (chance < sum) return fault;
  }
  return null;
};
