import { execFile, spawn } from 'node:child_process';
import { mkdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { writeBelow } from '../daemon/ways.ts';
import { standInForDocker } from './docker.ts';
import { workplace } from '../program.ts';

/** What a commit changes: texts, links, and null for what it removes. */
export type Files = Readonly<Record<string, string | null | { readonly link: string }>>;

export interface PullRequest {
  /** A directory of the test, with the repository in `origin`. */
  readonly cwd: string;
  readonly url: string;
  /** The commit of the request. */
  readonly head: string;
  /** A checkout, as the services make it for a job. */
  readonly clone: (branch: string, folder: string) => Promise<void>;
}

/** A repository with a base branch and pull request 7, by the names that GitHub and GitLab give it. */
export const openPullRequest = async (base: Files, request: Files): Promise<PullRequest> => {
  const cwd = await workplace({ withExamples: false });
  const origin = path.join(cwd, 'origin');
  await mkdir(origin);
  const git = async (...args: readonly string[]): Promise<string> => {
    const own = ['-C', origin, '-c', 'user.name=a', '-c', 'user.email=a@example.net', ...args];
    return (await promisify(execFile)('git', own)).stdout.trim();
  };
  const commit = async (files: Files): Promise<void> => {
    for (const [file, content] of Object.entries(files)) {
      if (typeof content !== 'string') await rm(path.join(origin, file), { recursive: true, force: true });
      if (typeof content === 'string') await writeBelow(origin, file, content);
      else if (content !== null) await symlink(content.link, path.join(origin, file));
    }
    await git('add', '--all');
    await git('commit', '--quiet', '--allow-empty', '--message', 'change');
  };
  await git('init', '--quiet', '--initial-branch', 'main');
  await commit(base);
  await git('checkout', '--quiet', '-b', 'request');
  await commit(request);
  const head = await git('rev-parse', 'HEAD');
  await git('checkout', '--quiet', '--detach', 'main');
  await git('merge', '--quiet', '--no-ff', '--no-edit', 'request');
  await git('update-ref', 'refs/pull/7/merge', 'HEAD');
  await git('update-ref', 'refs/merge-requests/7/head', head);
  await standInForDocker(cwd);
  const url = `file://${origin}`;
  const clone: PullRequest['clone'] = async (branch, folder) => {
    const options = ['--quiet', '--depth=1', '--branch', branch];
    await promisify(execFile)('git', ['clone', ...options, url, folder]);
  };
  return { cwd, url, head, clone };
};

/** Runs a script as a runner does: stdout and stderr are one log. */
export const runScript = async (
  shell: readonly [string, ...string[]],
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number | null; readonly log: string }> => {
  const [command, ...args] = shell;
  const child = spawn(command, [...args, '-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void (log += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, log };
};

/** A comment as people see it. */
export const shown = (comment: string): string =>
  comment.replaceAll(/&#(\d+);/g, (_, point) => String.fromCodePoint(Number(point)));
