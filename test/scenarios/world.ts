import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };
import { testClock } from '../clock.ts';
import type { Program } from '../program.ts';
import { startService } from './service.ts';

/** A folder, a service and a clock, and what runs between them. */
export type World = Awaited<ReturnType<typeof openWorld>>;

interface Daemon extends Program {
  readonly url: string;
  /** How many writes had arrived when its last report was read. */
  readonly before: number;
}

export const openWorld = async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'scenario-'));
  mkdirSync(path.join(folder, 'templates'));
  const clock = testClock();
  const service = await startService(clock.now);
  const env: Record<string, string> = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: 'user-token',
    DNS_SYNC_CLIENT_TOKEN: 'token-default',
    DNS_SYNC_STATE_DIR: path.join(folder, 'state'),
    DNS_SYNC_SETTLE: '10s',
  };
  return {
    folder,
    service,
    clock,
    env,
    /** How many requests had arrived before the last command. */
    reads: 0,
    started: null as Promise<readonly string[]> | null,
    daemon: null as Daemon | null,
    clients: 1,
    /** How many lines of the daemon's log were shown. */
    logged: 0,
    /** What stands in place of what is another one each time. */
    names: [
      [`by ${userInfo().username}`, 'by USER'],
      [`${userInfo().username} had`, 'USER had'],
      [`dns-template-sync ${packageJson.version}`, 'dns-template-sync VERSION'],
      [process.versions.node, 'VERSION'],
    ] as [from: string, to: string][],
    closing: [] as (() => Promise<unknown>)[],
  };
};

export const closeWorld = async ({ folder, service, daemon, closing }: World): Promise<void> => {
  service.release();
  daemon?.signal('SIGTERM');
  await daemon?.ended;
  await Promise.all([service.close(), ...closing.map((close) => close())]);
  rmSync(folder, { recursive: true, force: true });
};

/** As an editor does: another file takes the place of the first one, a moment after it was written. */
export const save = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}~`, text);
  const before = Date.now() / 1_000 - 1;
  utimesSync(`${file}~`, before, before);
  renameSync(`${file}~`, file);
};
