import { execFile } from 'node:child_process';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { writeBelow } from './daemon/ways.ts';

vi.setConfig({ testTimeout: 60_000 });

const call = promisify(execFile);
const script = path.resolve('.scripts/release.mjs');
const { PATH = '' } = process.env;

let cwd = '';
let env: Readonly<Record<string, string>> = {};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ended = (command: string, args: readonly string[], more: object = {}): Promise<Ended> =>
  call(command, args, { cwd, env, ...more }).then(
    (said) => ({ code: 0, ...said }),
    (said: Ended) => said,
  );

const git = async (...args: readonly string[]): Promise<string> =>
  (await call('git', args, { cwd, env })).stdout.trim();

const release = (...args: readonly string[]): Promise<Ended> => ended(process.execPath, [script, ...args]);

const read = (file: string): Promise<string> => readFile(path.join(cwd, file), 'utf8');

/** A program that takes the place of one of this machine: the lines of a script. */
const program = async (name: string, lines: string): Promise<void> => {
  await writeBelow(cwd, `../bin/${name}`, `#!/bin/sh\n${lines}\n`);
  await chmod(path.join(cwd, '../bin', name), 0o755);
  env = { ...env, PATH: `${path.join(cwd, '../bin')}:${PATH}` };
};

const changelog = (entries: string): Promise<void> =>
  writeBelow(cwd, '.github/CHANGELOG.md', `# Changelog\n\n## [Unreleased]\n\n${entries}`);

const commit = async (): Promise<void> => {
  await git('commit', '--quiet', '--all', '--message', 'A change');
  await git('push', '--quiet', 'origin', 'main');
};

/** A clone of a repository with what a release changes and packs, as version 0.1.0. The program is built already. */
beforeEach(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'release-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  cwd = path.join(folder, 'clone');
  const person = (role: string) => ({ [`GIT_${role}_NAME`]: 'A', [`GIT_${role}_EMAIL`]: 'a@example.net' });
  env = {
    PATH,
    HOME: folder,
    npm_config_ignore_scripts: 'true',
    npm_config_update_notifier: 'false',
    ...person('AUTHOR'),
    ...person('COMMITTER'),
  };
  for (const name of ['.gitignore', 'package-lock.json', 'LICENSE', 'dist/main.js', 'dist/program.cjs'])
    await cp(name, path.join(cwd, name));
  const manifest = await readFile('package.json', 'utf8');
  await writeBelow(cwd, 'package.json', manifest.replace(/"version": ".*"/, '"version": "0.1.0"'));
  await writeBelow(cwd, 'README.md', 'npm install -g ./dns-template-sync-0.1.0.tgz\n');
  await writeBelow(cwd, '.github/docs/ci.md', 'image: registry.example.net/dns-template-sync:0.1.0\n');
  await changelog('### Added\n\n- `plan` plans.\n');
  await call('git', ['init', '--quiet', '--bare', path.join(folder, 'remote')], { env });
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('remote', 'add', 'origin', path.join(folder, 'remote'));
  await git('add', '.');
  await commit();
});

describe('a release', () => {
  it('makes commit, tag, package and notes, and the command that it prints pushes them', async () => {
    expect(await release('0.1.0')).toMatchObject({ code: 0 });
    await git('push', '--quiet', '--atomic', 'origin', 'main', 'v0.1.0');
    const [, before] = (await read('.github/CHANGELOG.md')).split(/^## \[Unreleased\]\n\n/m);
    await changelog(`### Fixed\n\n- \`plan\` ends.\n\n${before}`);
    await commit();
    const { code, stdout, stderr } = await release('0.2.0');
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toMatch(/^### Fixed\n\n- `plan` ends\.\n\n/);
    expect(stdout).not.toContain('plans');
    const [, push = ''] = /^git (push .*)$/m.exec(stdout) ?? [];
    await git(...push.split(' '));
    const head = await git('rev-parse', 'HEAD');
    expect(await git('ls-remote', 'origin', 'refs/heads/main', 'refs/tags/v0.2.0^{}')).toBe(
      `${head}\trefs/heads/main\n${head}\trefs/tags/v0.2.0^{}`,
    );
    expect(await git('status', '--porcelain')).toBe('');
    const packed = await call('tar', ['-xzOf', 'dns-template-sync-0.2.0.tgz', 'package/package.json'], {
      cwd,
    });
    for (const text of [packed.stdout, await read('package.json'), await read('package-lock.json')])
      expect(text).toMatch(/^ {2}"version": "0\.2\.0"/m);
    expect(await read('README.md')).toContain('sync-0.2.0.tgz');
    expect(await read('.github/docs/ci.md')).toContain('sync:0.2.0');
    expect(await read('.github/CHANGELOG.md')).toMatch(
      /^# Changelog\n\n## \[Unreleased\]\n\n## \[0\.2\.0\] - \d{4}-\d\d-\d\d\n\n### Fixed\n\n.*\n\n## \[0\.1\.0\] - /,
    );
    expect((await release('notes', '0.1.0')).stdout).toBe('### Added\n\n- `plan` plans.\n');
  });

  it('is refused for every reason at once, and changes nothing', async () => {
    await changelog('## [0.10.0] - 2026-01-01\n\n- `plan` plans.\n');
    await git('commit', '--quiet', '--all', '--message', 'Mine');
    await git('tag', 'v0.9.0');
    await writeFile(path.join(cwd, 'new'), '');
    const before = await git('log', '--format=%H', '--all');
    const { code, stdout, stderr } = await release('0.9.0');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n  ')).toEqual([
      '0.9.0 cannot be released',
      'main is not what origin has: pull or push first',
      'files are not committed: see git status',
      'the tag v0.9.0 is there already',
      'the version is not greater than 0.10.0',
      '.github/CHANGELOG.md has no entry under ## [Unreleased]: say there what changes for users',
    ]);
    expect(await git('log', '--format=%H', '--all')).toBe(before);
    expect(await git('status', '--porcelain')).toBe('?? new');
  });

  it('is refused from another branch, and for what is no version', async () => {
    await git('switch', '--quiet', '--create', 'other');
    const { code, stderr } = await release('0.2.0');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: '0.2.0 cannot be released\n  this branch is other: git switch main\n',
    });
    expect(await release('v0.2')).toMatchObject({ code: 1 });
  });

  it('that cannot be packed leaves no commit, and the files as they were', async () => {
    const npm = path.join(path.dirname(process.execPath), 'npm');
    await program('npm', `[ "$1" != pack ] && exec '${npm}' "$@"`);
    const head = await git('rev-parse', 'HEAD');
    const { code, stderr } = await release('0.2.0');
    expect(code).toBe(1);
    expect(stderr).toContain('0.2.0 was not released, and the files are as they were');
    expect(await git('rev-parse', 'HEAD')).toBe(head);
    expect((await git('status', '--porcelain')) + (await git('tag'))).toBe('');
  });
});

const Workflow = z.object({
  jobs: z.record(
    z.string(),
    z.object({ steps: z.array(z.object({ run: z.string().optional() })).optional() }),
  ),
});
const { jobs } = Workflow.parse(parse(await readFile('.github/workflows/release.yml', 'utf8')));

/** Runs the last step of a job as a runner would, on a tag, with programs that only note how they are called. */
const runStep = async (
  job: string,
  programs: readonly string[],
): Promise<{ code: number; calls: string[] }> => {
  const calls = path.join(cwd, '../calls');
  for (const name of programs) await program(name, `echo ${name} "$@" >>'${calls}'`);
  const variables = {
    GITHUB_REF_NAME: 'v0.1.0',
    GITHUB_REPOSITORY: 'An-Owner/sync',
    GITHUB_SHA: 'abc',
    GITHUB_ACTOR: 'a',
    GITHUB_TOKEN: 't',
  };
  const step = jobs[job]?.steps?.at(-1)?.run ?? '';
  const { code } = await ended('bash', ['-e', '-c', step], { env: { ...env, ...variables } });
  return { code, calls: (await readFile(calls, 'utf8').catch(() => '')).split('\n').slice(0, -1) };
};

describe('when a tag arrives', () => {
  it('the package and the notes of that version are published, and no other', async () => {
    const { code, calls } = await runStep('package', ['npm', 'gh']);
    expect(code).toBe(0);
    expect(calls).toEqual([
      'npm run --silent release -- notes 0.1.0',
      'npm pkg set repository.type=git repository.url=git+https://github.com/An-Owner/sync.git',
      'npm pack',
      'npm publish ./dns-template-sync-0.1.0.tgz',
      'gh release create v0.1.0 --verify-tag --notes-file notes.md dns-template-sync-0.1.0.tgz',
    ]);
    await writeBelow(cwd, 'package.json', (await read('package.json')).replace('0.1.0', '0.2.0'));
    expect((await runStep('package', ['npm', 'gh'])).code).toBe(1);
  });

  it('the image is pushed under its version, the minor version and latest', async () => {
    const { code, calls } = await runStep('image', ['docker']);
    expect(code).toBe(0);
    const [login, build = '', push] = calls;
    expect(login).toBe('docker login ghcr.io --username a --password-stdin');
    const image = 'ghcr.io/an-owner/sync';
    expect(build).toContain(`-t ${image}:0.1.0 -t ${image}:0.1 -t ${image}:latest .`);
    expect(push).toBe(`docker push --all-tags ${image}`);
  });
});
