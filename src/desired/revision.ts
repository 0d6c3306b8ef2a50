import { readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';

/** The git commit of the checkout that each file is in, as it is now. Files of one folder are of one checkout. */
export const revisionsOf = async (files: Iterable<string>): Promise<(file: string) => string | null> => {
  const folders = new Map<string, string>();
  for (const file of files) {
    const folder = path.dirname(file);
    if (!folders.has(folder)) folders.set(folder, file);
  }
  const found = await Promise.all(
    [...folders].map(async ([folder, file]) => [folder, await revisionOf(file)] as const),
  );
  const revisions = new Map(found);
  return (file) => revisions.get(path.dirname(file)) ?? null;
};

/** Worktrees and git-sync's links too; null outside of a checkout. */
const revisionOf = async (file: string): Promise<string | null> => {
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
