import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { built } from '../built.ts';
import { clientToken, userToken, type Service } from '../service.ts';
import { newFolder } from '../state/samples.ts';

export interface Worker {
  readonly signal: (name: NodeJS.Signals) => void;
  /** What it said, once it has ended. */
  readonly ended: Promise<string>;
  /** What it said so far. */
  readonly output: () => string;
}

/** The built program as a worker: of `folder`, with this environment. */
const startWorker = (
  args: readonly string[],
  { cwd, env, folder = built('') }: { cwd: string; env: Readonly<Record<string, string>>; folder?: string },
): Worker => {
  const child = spawn(process.execPath, [path.join(folder, 'main.js'), ...args], {
    cwd,
    env: { PATH: process.env['PATH'], HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece: Buffer) => (said += String(piece)));
  const ended = once(child, 'close').then(() => said);
  // One that is stopped would not end by anything else.
  onTestFinished(() => void child.kill('SIGKILL'));
  return { signal: (name) => void child.kill(name), ended, output: () => said };
};

/** A place whose file wants some names, and workers that keep what they remember at an address. */
export const newWorkers = (service: Service, url: string, settings: Readonly<Record<string, string>>) => {
  const cwd = newFolder();
  mkdirSync(path.join(cwd, 'templates'));
  const want = (names: readonly string[]): void => {
    const records = names.map((name) => `  - {type: A, name: ${name}, content: 203.0.113.99}\n`);
    const head = 'template: standard-web\nadopt: true\nrecords:\n';
    writeFileSync(path.join(cwd, 'templates/web.yaml'), head + records.join(''));
  };
  const env = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: userToken,
    DNS_SYNC_CLIENT_TOKEN: clientToken,
    DNS_SYNC_STORE: url,
    DNS_SYNC_LEASE_DURATION: '1s',
    DNS_SYNC_SETTLE: '20ms',
    ...settings,
  };
  const start = (
    args: readonly string[],
    folder?: string,
    more: Readonly<Record<string, string>> = {},
  ): Worker =>
    startWorker(args, { cwd, env: { ...env, ...more }, ...(folder === undefined ? {} : { folder }) });
  return { want, start };
};
