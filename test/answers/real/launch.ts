import { freePort } from '../../free-port.ts';
import { execFile, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { resolverAt } from '../../../src/answers/ask.ts';

export const serverKinds = ['knot', 'bind9'] as const;
type ServerKind = (typeof serverKinds)[number];

interface RealServer {
  readonly place: string;
  readonly port: number;
}

/** A program below the directory of all servers, and its `server.conf`. */
interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly config: string;
}

type CommandIn = (directory: string, port: number, apex: string) => Command;

/** Servers that have a zone. */
const servers: Readonly<Record<ServerKind, CommandIn>> = {
  knot: (directory, port, apex) => ({
    file: 'usr/sbin/knotd',
    args: ['-c', 'server.conf'],
    config: `server:
  listen: 127.0.0.1@${port}
  rundir: ${directory}/run
database:
  storage: ${directory}/db
acl:
  - id: local
    address: 127.0.0.1
    action: [update, transfer]
zone:
  - domain: ${apex}
    file: ${directory}/zone
    acl: local
`,
  }),
  bind9: (directory, port, apex) => ({
    file: 'usr/sbin/named',
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
zone "${apex}" { type primary; file "zone"; };
`,
  }),
};

/** A resolver that asks another server for a zone. */
const unbound =
  (origin: RealServer): CommandIn =>
  (directory, port, apex) => ({
    file: 'usr/sbin/unbound',
    args: ['-d', '-c', 'server.conf'],
    config: `server:
  interface: 127.0.0.1@${port}
  directory: "${directory}"
  pidfile: "${directory}/run/pid"
  username: ""
  chroot: ""
  use-syslog: no
  do-not-query-localhost: no
  module-config: "iterator"
remote-control:
  control-enable: no
stub-zone:
  name: ${apex}
  stub-addr: ${origin.place.replace(':', '@')}
`,
  });

/** Where `.ci/name-servers.sh` has put them. */
const root = process.env['NAME_SERVERS'] ?? '';

/** Starts one with a zone in the form of a zone file, without SOA, on a free port; resolves once it answers. */
export const launch = (kind: ServerKind, apex: string, records: readonly string[]): Promise<RealServer> => {
  const soa = `@ 3600 SOA ns1.${apex}. hostmaster.${apex}. 1 3600 600 86400 60`;
  // Whoever serves a zone wants name servers in it, and their addresses.
  const own = [`$ORIGIN ${apex}.`, soa, `@ 3600 NS ns1.${apex}.`, 'ns1 3600 A 127.0.0.1'];
  return start(servers[kind], apex, [...own, ...records, ''].join('\n'));
};

/** The same of a resolver that asks another server. */
export const launchResolver = (origin: RealServer, apex: string): Promise<RealServer> =>
  start(unbound(origin), apex, '');

const start = async (commandIn: CommandIn, apex: string, zone: string): Promise<RealServer> => {
  if (root === '') throw new Error('NAME_SERVERS names no directory: see .ci/name-servers.sh');
  const directory = await mkdtemp(path.join(tmpdir(), 'server-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await Promise.all(['db', 'run'].map((name) => mkdir(path.join(directory, name))));
  const port = await freePort();
  const { file, args, config } = commandIn(directory, port, apex);
  await writeFile(path.join(directory, 'zone'), zone);
  await writeFile(path.join(directory, 'server.conf'), config);
  const child = spawn(path.join(root, file), args, {
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
  const place = `127.0.0.1:${port}`;
  const hasZone = (): Promise<boolean> =>
    resolverAt(place, 500)
      .resolveSoa(apex)
      .then(() => true)
      .catch(() => false);
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${file} ended: ${said}`);
    if (await hasZone()) return { place, port };
    await setTimeout(20);
  }
};

/** Runs one of the programs beside the servers, below their directory, and gives what it prints. */
export const runTool = async (file: string, args: readonly string[]): Promise<string> => {
  const env = { LD_LIBRARY_PATH: libraries() };
  const { stdout } = await promisify(execFile)(path.join(root, file), args, { env, maxBuffer: 2 ** 24 });
  return stdout;
};

/** Folders of shared libraries below the root. */
const libraries = (): string => {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  const found = files.filter(({ name }) => name.includes('.so')).map(({ parentPath }) => parentPath);
  return [...new Set(found)].join(':');
};
