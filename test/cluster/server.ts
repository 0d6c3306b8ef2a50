import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where tests find PostgreSQL, as its superuser. */
    postgres: string;
  }
}

/** Starts a PostgreSQL of its own for the tests, whoever runs them; it is gone afterwards. */
export default async ({ provide }: TestProject): Promise<() => Promise<void>> => {
  const server = await startPostgres();
  provide('postgres', server.url);
  return server.stop;
};

export interface PostgresServer {
  readonly url: string;
  /** Ends it and all that belongs to it. */
  readonly stop: () => Promise<void>;
}

const startPostgres = async (): Promise<PostgresServer> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-postgres-'));
  const owner = ownerOf(folder);
  const data = path.join(folder, 'data');
  const made = spawnSync(
    program('initdb'),
    ['-D', data, '-U', 'tester', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { ...owner, env: environment(), encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb: ${made.error?.message ?? made.stderr}`);
  const port = await freePort();
  // What a test commits has to outlive PostgreSQL, not the machine.
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${folder}`,
    'fsync=off',
  ];
  const child = spawn(program('postgres'), ['-D', data, ...settings.flatMap((setting) => ['-c', setting])], {
    ...owner,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => (said += String(piece)));
  const ended = once(child, 'exit');
  const url = `postgres://tester@127.0.0.1:${port}/postgres`;
  while (!(await answers(url))) {
    if (child.exitCode !== null) throw new Error(`postgres ended: ${said}`);
    await setTimeout(20);
  }
  return {
    url,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const answers = async (url: string): Promise<boolean> => {
  const client = new Client(url);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
};

/** Where `.ci/postgres.sh` has put it, else Debian's, else whatever is on the way of commands. */
const roots = [process.env['POSTGRES'], '/'].filter((root) => root !== undefined);

const program = (name: string): string => {
  for (const root of roots) {
    const versions = path.join(root, 'usr/lib/postgresql');
    if (!existsSync(versions)) continue;
    const newest = readdirSync(versions).toSorted((one, other) => Number(other) - Number(one));
    for (const version of newest) {
      const file = path.join(versions, version, 'bin', name);
      if (existsSync(file)) return file;
    }
  }
  return name;
};

/** With the libraries that were unpacked beside it. */
const environment = (): NodeJS.ProcessEnv => {
  const root = process.env['POSTGRES'];
  const { PATH } = process.env;
  if (root === undefined || !existsSync(root)) return { PATH };
  const folders = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map(({ parentPath }) => parentPath);
  return { PATH, LD_LIBRARY_PATH: [...new Set(folders)].join(':') };
};

/** PostgreSQL refuses to run as root: there it runs as nobody, to whom its folder then belongs. */
const ownerOf = (folder: string): { uid?: number; gid?: number; cwd: string } => {
  if (process.getuid?.() !== 0) return { cwd: folder };
  const [, , uid, gid] = /^(nobody):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  const owner = { uid: Number(uid), gid: Number(gid) };
  chownSync(folder, owner.uid, owner.gid);
  return { ...owner, cwd: folder };
};

const freePort = async (): Promise<number> => {
  const tcp = createServer().listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  tcp.close();
  await once(tcp, 'close');
  return port;
};
