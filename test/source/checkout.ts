import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

export const newFolder = (): string => {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'dns-template-sync-git-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

/** Without the settings of whoever runs this. */
export const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.net', ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], HOME: cwd, GIT_CONFIG_NOSYSTEM: '1' },
  }).trim();

/** With a template in a folder of it, and one commit. */
export const newCheckout = (): string => {
  const folder = path.join(newFolder(), 'repository');
  mkdirSync(path.join(folder, 'templates'), { recursive: true });
  writeFileSync(path.join(folder, 'templates/web.yaml'), 'template: web\nrecords: []\n');
  git(folder, 'init', '--quiet', '--initial-branch=main');
  git(folder, 'add', '.');
  git(folder, 'commit', '--quiet', '-m', 'one');
  return folder;
};
