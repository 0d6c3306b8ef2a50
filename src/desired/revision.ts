import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** The git commit of the checkout that a file is in, worktrees and git-sync's links too; null outside of one. */
export const revisionOf = async (file: string): Promise<string | null> => {
  try {
    const gitDir = await gitDirAbove(path.dirname(await realpath(file)));
    return gitDir === null ? null : await commitOf(gitDir, await text(path.join(gitDir, 'HEAD')));
  } catch {
    return null;
  }
};

const gitDirAbove = async (folder: string): Promise<string | null> => {
  const candidate = path.join(folder, '.git');
  const found = await stat(candidate).catch(() => null);
  if (found?.isDirectory()) return candidate;
  // A worktree holds a file that says where its own part of the repository is.
  if (found?.isFile()) return path.resolve(folder, (await text(candidate)).replace(/^gitdir: /, ''));
  const parent = path.dirname(folder);
  return parent === folder ? null : gitDirAbove(parent);
};

const commitOf = async (gitDir: string, head: string): Promise<string | null> => {
  if (isCommit(head)) return head;
  const ref = head.replace(/^ref: /, '');
  const common = await text(path.join(gitDir, 'commondir')).catch(() => '.');
  const shared = path.resolve(gitDir, common);
  const loose = await text(path.join(shared, ref)).catch(() => '');
  if (isCommit(loose)) return loose;
  const packed = await text(path.join(shared, 'packed-refs')).catch(() => '');
  const line = packed.split('\n').find((one) => one.endsWith(` ${ref}`));
  return line ? line.slice(0, line.indexOf(' ')) : null;
};

const isCommit = (value: string): boolean => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(value);

const text = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim();
