import { freePort } from '../../free-port.ts';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { openDnsServer } from '../../../src/answers/dns-server.ts';

/** Where `.ci/name-servers.sh` has put them. */
const root = process.env['NAME_SERVERS'] ?? '';

export const serverKinds = ['knot', 'nsd', 'bind9'] as const;
export type ServerKind = (typeof serverKinds)[number];

/** A zone: its name, and its records in the form of a zone file, without SOA. */
export interface RealZone {
  readonly apex: string;
  readonly serial?: number;
  /** Null: a zone that the server is to serve and has nothing of. */
  readonly records: readonly string[] | null;
}

export interface RealServer {
  readonly place: string;
  readonly port: number;
}

/** Starts one of them with these zones on a free port; resolves once it answers. */
export const launch = async (kind: ServerKind, zones: readonly RealZone[]): Promise<RealServer> => {
  const directory = await mkdtemp(path.join(tmpdir(), `${kind}-`));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await Promise.all(['db', 'run'].map((name) => mkdir(path.join(directory, name))));
  for (const { apex, serial = 1, records } of zones) {
    if (records === null) continue;
    const soa = `@ 3600 SOA ns1.${apex}. hostmaster.${apex}. ${serial} 3600 600 86400 60`;
    // Whoever serves a zone wants name servers in it, and their addresses.
    const own = [soa, `@ 3600 NS ns1.${apex}.`, 'ns1 3600 A 127.0.0.1'];
    await writeFile(
      path.join(directory, `${apex}.zone`),
      [`$ORIGIN ${apex}.`, ...own, ...records, ''].join('\n'),
    );
  }
  const port = await freePort();
  const { file, config, args } = commands[kind](directory, port, zones);
  await writeFile(path.join(directory, 'server.conf'), config);
  const child = spawn(path.join(root, 'usr/sbin', file), args, {
    cwd: directory,
    env: { LD_LIBRARY_PATH: libraries() },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (said += String(piece)));
  const ended = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const signal = new AbortController().signal;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${kind} ended: ${said}`);
    const server = await openDnsServer({ address: '127.0.0.1', port }, false, { timeout: 500, signal });
    const reply = await server?.ask({ name: zones[0]?.apex ?? '', type: 'SOA' });
    server?.close();
    if (reply) return { place: `127.0.0.1:${port}`, port };
    await setTimeout(20);
  }
};

type Command = (
  directory: string,
  port: number,
  zones: readonly RealZone[],
) => { readonly file: string; readonly config: string; readonly args: readonly string[] };

const commands: Record<ServerKind, Command> = {
  knot: (directory, port, zones) => ({
    file: 'knotd',
    args: ['-c', 'server.conf'],
    config: `server:
  listen: 127.0.0.1@${port}
  rundir: ${directory}/run
database:
  storage: ${directory}/db
acl:
  - id: local
    address: 127.0.0.1
    action: update
zone:
${zones.map(({ apex }) => `  - domain: ${apex}\n    file: ${directory}/${apex}.zone\n    acl: local\n`).join('')}`,
  }),
  nsd: (directory, port, zones) => ({
    file: 'nsd',
    args: ['-d', '-c', 'server.conf'],
    config: `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  chroot: ""
  zonesdir: ${directory}
  database: ""
  pidfile: ${directory}/run/nsd.pid
  xfrdfile: ${directory}/db/xfrd.state
  zonelistfile: ${directory}/db/zone.list
  xfrdir: ${directory}/db
  logfile: ${directory}/run/log
remote-control:
  control-enable: no
${zones.map(({ apex }) => `zone:\n  name: ${apex}\n  zonefile: ${apex}.zone\n`).join('')}`,
  }),
  bind9: (directory, port, zones) => ({
    file: 'named',
    args: ['-g', '-c', 'server.conf'],
    config: `options {
  directory "${directory}";
  pid-file "${directory}/run/named.pid";
  session-keyfile "${directory}/run/key";
  managed-keys-directory "${directory}/db";
  listen-on port ${port} { 127.0.0.1; };
  listen-on-v6 { none; };
  recursion no;
  dnssec-validation no;
};
controls { };
${zones.map(({ apex }) => `zone "${apex}" { type primary; file "${apex}.zone"; };\n`).join('')}`,
  }),
};

/** Folders of shared libraries below the root. */
const libraries = (): string =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map(({ parentPath }) => parentPath)
    .filter((folder, index, all) => all.indexOf(folder) === index)
    .join(':');

/** Sends a message and gives the answer: for what the program itself never asks. */
export const sendTo = async ({ port }: RealServer, message: Buffer): Promise<Buffer> => {
  const socket = createSocket('udp4');
  try {
    socket.send(message, port, '127.0.0.1');
    const [reply]: Buffer[] = await once(socket, 'message');
    return reply!;
  } finally {
    socket.close();
  }
};

export const isThere = (kind: ServerKind): boolean =>
  existsSync(path.join(root, 'usr/sbin', { knot: 'knotd', nsd: 'nsd', bind9: 'named' }[kind]));
