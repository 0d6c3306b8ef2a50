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
import {
  frontCommands,
  serverCommands,
  type Command,
  type FrontKind,
  type RealServer,
  type RealZone,
  type ServerKind,
} from './commands.ts';

/** Where `.ci/name-servers.sh` has put them. */
const root = process.env['NAME_SERVERS'] ?? '';

/** Starts one of them with these zones on a free port; resolves once it answers. */
export const launch = async (kind: ServerKind, zones: readonly RealZone[]): Promise<RealServer> => {
  const directory = await directoryFor(kind);
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
  const command = serverCommands[kind](directory, port, zones, root);
  return start(command, directory, port, zones[0]?.apex ?? '');
};

/** Starts one that asks another server for a zone; resolves once it answers. */
export const launchFront = async (kind: FrontKind, origin: RealServer, apex: string): Promise<RealServer> => {
  const directory = await directoryFor(kind);
  const port = await freePort();
  const command = frontCommands[kind](directory, port, origin, apex);
  return start(command, directory, port, apex);
};

const directoryFor = async (kind: string): Promise<string> => {
  const directory = await mkdtemp(path.join(tmpdir(), `${kind}-`));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await Promise.all(['db', 'run'].map((name) => mkdir(path.join(directory, name))));
  return directory;
};

const start = async (
  { file, config, args }: Command,
  directory: string,
  port: number,
  apex: string,
): Promise<RealServer> => {
  if (root === '') throw new Error('NAME_SERVERS names no directory: see .ci/name-servers.sh');
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
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${file} ended: ${said}`);
    if (await answersAt(place, apex)) return { place, port };
    await setTimeout(20);
  }
};

/** Whether it has the SOA record of the zone. */
const answersAt = (place: string, apex: string): Promise<boolean> =>
  resolverAt(place, 500)
    .resolveSoa(apex)
    .then(() => true)
    .catch(() => false);

/** Runs one of the programs beside the servers, below their directory, and gives what it prints. */
export const runTool = async (file: string, args: readonly string[]): Promise<string> => {
  const env = { LD_LIBRARY_PATH: libraries() };
  const { stdout } = await promisify(execFile)(path.join(root, file), args, {
    env,
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout;
};

/** Folders of shared libraries below the root. */
const libraries = (): string =>
  readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.name.includes('.so'))
    .map(({ parentPath }) => parentPath)
    .filter((folder, index, all) => all.indexOf(folder) === index)
    .join(':');
