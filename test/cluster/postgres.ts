import { freePort } from '../free-port.ts';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';

export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Ends it, and waits for that. */
  readonly stop: (how: 'SIGINT' | 'SIGQUIT' | 'SIGKILL') => Promise<void>;
  /** After it was stopped; on the same port. */
  readonly start: () => Promise<void>;
  /** From now on everybody but the tester needs a password. */
  readonly requirePasswords: () => Promise<void>;
  /** Another one that follows it. */
  readonly standby: () => Promise<PostgresServer>;
  /** Ends it, and leaves nothing of it. */
  readonly remove: () => Promise<void>;
}

/** A PostgreSQL of the test's own, whoever runs it. `fileLimit`: no file of it grows beyond so many bytes. */
export const startPostgres = (fileLimit?: number): Promise<PostgresServer> =>
  startIn((data, owner) => {
    const encoding = ['--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
    make('initdb', ['-D', data, '-U', 'tester', '--wal-segsize=1', ...encoding], owner);
  }, fileLimit);

type MakeData = (data: string, owner: Owner) => void;

const startIn = async (makeData: MakeData, fileLimit?: number): Promise<PostgresServer> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-postgres-'));
  const owner = ownerOf(folder);
  const data = path.join(folder, 'data');
  makeData(data, owner);
  const port = await freePort();
  const url = `postgres://tester@127.0.0.1:${port}/postgres`;
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = launch(data, port, owner, fileLimit);
    let said = '';
    child.stderr?.on('data', (piece: Buffer) => (said += String(piece)));
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error(`postgres ended: ${said}`);
      await setTimeout(20);
    }
  };
  const stop: PostgresServer['stop'] = async (how) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(how);
    await ended;
  };
  await start();
  return {
    url,
    port,
    start,
    stop,
    standby: () =>
      startIn((own, standbyOwner) =>
        make('pg_basebackup', ['-d', url, '-D', own, '-R', '--no-sync', '-c', 'fast'], standbyOwner),
      ),
    requirePasswords: async () => {
      const rules = ['tester trust', 'all scram-sha-256'].map((one) => {
        const [user, how] = one.split(' ');
        return `host all ${user} 127.0.0.1/32 ${how}\n`;
      });
      writeFileSync(path.join(data, 'pg_hba.conf'), rules.join(''));
      await ask({ url }, 'SELECT pg_reload_conf()');
    },
    remove: async () => {
      await stop('SIGINT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const make = (name: string, args: readonly string[], owner: Owner): void => {
  const made = spawnSync(program(name), args, { ...owner, env: environment(), encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`${name}: ${made.error?.message ?? made.stderr}`);
};

const launch = (data: string, port: number, owner: Owner, fileLimit?: number): ChildProcess => {
  // What a test commits has to outlive PostgreSQL, not the machine.
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${owner.cwd}`,
    'fsync=off',
  ];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const limit = fileLimit === undefined ? 'unlimited' : String(fileLimit / 1_024);
  const limited = ['-c', `ulimit -f ${limit}; exec "$@"`, 'limited', program('postgres'), ...args];
  return spawn('bash', limited, {
    ...owner,
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
  readonly cwd: string;
}

/** PostgreSQL refuses to run as root: there it runs as nobody, to whom its folder then belongs. */
const ownerOf = (folder: string): Owner => {
  if (process.getuid?.() !== 0) return { cwd: folder };
  const [, , uid, gid] = /^(nobody):[^:]*:(\d+):(\d+):/m.exec(readFileSync('/etc/passwd', 'utf8')) ?? [];
  const owner = { uid: Number(uid), gid: Number(gid) };
  chownSync(folder, owner.uid, owner.gid);
  return { ...owner, cwd: folder };
};

/** The rows of the last statement. */
export const ask = async (
  { url }: Pick<PostgresServer, 'url'>,
  ...statements: readonly string[]
): Promise<unknown[]> => {
  const client = new Client(url);
  await client.connect();
  try {
    let rows: unknown[] = [];
    for (const statement of statements) ({ rows } = await client.query<object>(statement));
    return rows;
  } finally {
    await client.end();
  }
};
