import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { watchEntry } from '../../src/source/entry-watch.ts';

/** Watches an entry until the test ends; resolves with the first event. */
const watching = (entry: string): { readonly event: Promise<void>; readonly end: () => void } => {
  let onEvent = (): void => undefined;
  const event = new Promise<void>((resolve) => (onEvent = resolve));
  const onError = (error: unknown): void => expect.fail(String(error));
  const end = watchEntry({ entry, onEvent, onError });
  onTestFinished(end);
  return { event, end };
};

test.each<[string, (folder: string) => void, (folder: string) => void]>([
  ['has come since others watch it', () => undefined, (folder) => mkdirSync(folder)],
  [
    'has replaced the one that others watch',
    (folder) => mkdirSync(folder),
    (folder) => {
      mkdirSync(`${folder}-new`);
      renameSync(`${folder}-new`, folder);
    },
  ],
  [
    'was removed and made again since others watch it',
    (folder) => mkdirSync(folder),
    (folder) => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    },
  ],
])('a directory that %s is watched anew', async (_, prepare, arrive) => {
  const root = mkdtempSync(path.join(tmpdir(), 'folder-watch-'));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const folder = path.join(root, 'clients');
  prepare(folder);
  watching(path.join(folder, 'a'));
  const before = watching(path.join(folder, 'b'));
  arrive(folder);
  const after = watching(path.join(folder, 'b'));
  before.end();
  writeFileSync(path.join(folder, 'b'), '');
  await after.event;
});
