// npm run bench -- attack [NAME...]: what a neighbour on the network can do to the daemon with a few kB. Each attack
// meets a daemon of its own, on this machine alone, with 500 templates, 2,500 differences and 20,000 writes of the
// past, and ends after half a minute. Shown is how long probes wait meanwhile, and the most memory that it took.
import { setMaxListeners } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { withDaemon } from './daemon.mjs';
import { fillHistory } from './past.mjs';
import { withWorld } from './world.mjs';

const [templates, records, writes] = [500, 5, 20_000];
/** Milliseconds. */
const longest = 30_000;

/** `count` sockets, each with so many requests for a path; what each does with the answers. */
const attacks = {
  'report, 1 × 200 pipelined': () => pipelined(1, 200, '/api/report'),
  'report, 2 × 200 pipelined': () => pipelined(2, 200, '/api/report'),
  'report, 50 × 200, unread': () => pipelined(50, 200, '/api/report', unread),
  'report, 50 × 200, hung up': () => pipelined(50, 200, '/api/report', hungUp),
  'page, 4 × 200 pipelined': () => pipelined(4, 200, '/'),
  'page, 20 × 200 kept alive': () => keptAlive(20, 200, '/'),
  'page, 120 × 100 kept alive': () => keptAlive(120, 100, '/'),
  'metrics, 4 × 200 pipelined': () => pipelined(4, 200, '/metrics'),
  'history, 6 in turn': () => inTurn(6, 20, '/api/history'),
  'history, 50 × 200 pipelined': () => pipelined(50, 200, '/api/history'),
  'history of no template, 50 × 200': () => pipelined(50, 200, '/api/history?template=none'),
  '600 idle sockets': () => idle(600),
  'live, 50 × 2,000 pipelined': () => pipelined(50, 2_000, '/livez'),
};

export const measure = async (names) => {
  const chosen = Object.entries(attacks).filter(
    ([name]) => names.length === 0 || names.some((one) => name.startsWith(one)),
  );
  await withWorld({ templates, records }, async (world) => {
    await prepare(world);
    for (const [name, attack] of chosen) print(name, await suffer(world, attack()));
  });
  return 0;
};

/** One write, which is then copied into the past; after it, every record of every file differs. */
const prepare = async ({ cwd, env, wanted, write }) => {
  const other = wanted.map((record) => ({ ...record, content: elsewhere(record.content) }));
  await withDaemon([], { cwd, env }, async ({ passed }) => {
    await passed('startup');
    await write(0, [{ ...wanted[0], content: '203.0.113.1' }, ...wanted.slice(1)]);
    await passed('file-change');
  });
  fillHistory(path.join(env.DNS_SYNC_STATE_DIR, 'memory.db'), writes);
  for (let index = 0; index < templates; index += 1) await write(index, other);
};

const elsewhere = (content) =>
  content.replace('192.0.2', '198.51.100').replace('2001:db8', '2001:db9').replace('target', 'other');

const suffer = ({ cwd, env }, attack) =>
  withDaemon(['--dry-run'], { cwd, env }, async ({ listen, child, passed }) => {
    const { summary } = await passed('startup');
    const before = await memoryOf(child);
    const worked = await workOf(child);
    const port = Number(new URL(listen).port);
    const ending = new AbortController();
    const probing = probe(port, ending.signal);
    const deadline = AbortSignal.timeout(longest);
    setMaxListeners(0, deadline);
    const answered = await attack(port, deadline);
    const work = (await workOf(child)) - worked;
    ending.abort();
    const waits = await probing;
    return { ...summary, answered, work, waits, before, after: await memoryOf(child) };
  });

/** Asks for /livez all the time, each time by another connection. Gives how long each took; null: no answer. */
const probe = async (port, signal) => {
  const waits = [];
  do {
    const began = performance.now();
    const isAlive = await isAnswered(port, '/livez', false);
    waits.push(isAlive ? performance.now() - began : null);
    await setTimeout(20);
  } while (!signal.aborted);
  return waits;
};

const isAnswered = (port, place, agent) =>
  new Promise((resolve) => {
    get({ port, host: '127.0.0.1', path: place, agent, timeout: longest }, (answer) =>
      answer.resume().on('end', () => resolve(answer.statusCode === 200)),
    )
      .on('timeout', () => resolve(false))
      .on('error', () => resolve(false));
  });

const requestFor = (place) => `GET ${place} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const mark = 'HTTP/1.1 200 OK';

/** Reads all answers, and counts them. */
const read = (socket, wanted, done) => {
  let [found, rest] = [0, ''];
  socket.setEncoding('latin1').on('data', (text) => {
    const parts = (rest + text).split(mark);
    found += parts.length - 1;
    rest = parts.at(-1).slice(-mark.length);
    if (found >= wanted) done(found);
  });
  socket.on('close', () => done(found));
};
/** Leaves the answers where they are for some seconds. */
const unread = (socket, _, done) => {
  const timer = globalThis.setTimeout(() => done(0), longest / 5);
  socket.on('close', () => {
    clearTimeout(timer);
    done(0);
  });
};
/** Goes when all is sent. */
const hungUp = (socket, _, done) => {
  socket.on('drain', () => socket.destroy()).on('close', () => done(0));
  globalThis.setTimeout(() => socket.destroy(), 200);
};

/** Each gives how many answers came. */
const pipelined =
  (sockets, requests, place, take = read) =>
  async (port, signal) => {
    const text = requestFor(place).repeat(requests);
    return sum(await Promise.all(times(sockets, () => converse(port, signal, text, requests, take))));
  };

const inTurn = (sockets, requests, place) => async (port, signal) => {
  const ask = async () => {
    let found = 0;
    for (let index = 0; index < requests && !signal.aborted; index += 1)
      found += await converse(port, signal, requestFor(place).replace('\r\n\r\n', closing), 1, read);
    return found;
  };
  return sum(await Promise.all(times(sockets, ask)));
};
/** As browsers do: on one connection each, the next request when the answer is whole. */
const keptAlive = (sockets, requests, place) => async (port, signal) => {
  const ask = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    let found = 0;
    for (let index = 0; index < requests && !signal.aborted; index += 1)
      if (await isAnswered(port, place, agent)) found += 1;
    agent.destroy();
    return found;
  };
  return sum(await Promise.all(times(sockets, ask)));
};
const closing = '\r\nConnection: close\r\n\r\n';

const idle = (sockets) => async (port, signal) => {
  const held = times(sockets, () => connect(port, '127.0.0.1').on('error', () => undefined));
  await setTimeout(3_000, undefined, { signal }).catch(() => undefined);
  for (const socket of held) socket.destroy();
  return 0;
};

const converse = (port, signal, text, wanted, take) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    const end = (found) => {
      signal.removeEventListener('abort', stop);
      resolve(found);
      socket.destroy();
    };
    const stop = () => socket.destroy();
    signal.addEventListener('abort', stop);
    take(socket, wanted, end);
    socket.on('error', () => undefined);
  });

const times = (count, make) => Array.from({ length: count }, make);
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** MiB: now, and the most so far. */
const memoryOf = async ({ pid }) => {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [now, most] = ['VmRSS', 'VmHWM'].map((key) =>
    Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) / 1024),
  );
  return { now, most };
};

/** Milliseconds of processor time so far, whatever else the machine does meanwhile. */
const workOf = async ({ pid }) => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const [user = 0, system = 0] = text.split(') ').at(-1).split(' ').slice(11, 13).map(Number);
  return (user + system) * 10;
};

const print = (name, { waits, answered, work, before, after, add, update }) => {
  const answeredWaits = waits.filter((wait) => wait !== null).sort((one, other) => one - other);
  const shown = (wait) => `${Math.round(wait ?? Number.NaN)} ms`.padStart(9);
  const middle = shown(answeredWaits[Math.floor(answeredWaits.length / 2)]);
  const lost = waits.length - answeredWaits.length;
  process.stdout.write(
    `${name.padEnd(34)} /livez ${middle} median ${shown(answeredWaits.at(-1))} longest, ${lost} of ${waits.length} without answer; ` +
      `${before.now} → ${after.most || 'ended'} MiB; ${answered} answers, ${(work / Math.max(1, answered)).toFixed(2)} ms of processor time each (${add + update} differences)\n`,
  );
};
