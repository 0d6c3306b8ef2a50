import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { draftFile, type FileDrafts } from './file-drafts.ts';
import { unpack } from './packed.ts';
import type { SourceFile } from './snapshot.ts';
import type { TemplateSettings } from './template-draft.ts';

/** Part of the files, as a thread gets it. */
export interface Share {
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
  readonly settings: TemplateSettings;
}

/**
 * Reads files side by side, where there is enough of it: a thread takes a while to start. This one takes its share.
 * What could not be done, for whatever reason, is missing in the result.
 */
export const draftSideBySide = async (
  files: readonly SourceFile[],
  settings: TemplateSettings,
): Promise<Map<SourceFile, FileDrafts>> => {
  const made = new Map<SourceFile, FileDrafts>();
  const shares = sharesOf(files.filter(({ bytes }) => bytes !== undefined));
  const size = files.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
  if (size < enough || !existsSync(program)) return made;
  const lanes = Math.min(availableParallelism(), mostThreads, shares.length);
  const threads = Array.from({ length: lanes - 1 }, () => runThread(shares, settings, made));
  await Promise.allSettled([...threads, runHere(shares, settings, made)]);
  return made;
};

/** Bytes that take longer to read than a thread to start. */
const enough = 200_000;
const shareSize = 100_000;
const mostThreads = 8;

/** The built program has it beside itself; where the sources run as they are, there are no threads. */
const program = fileURLToPath(new URL('./thread.mjs', import.meta.url));

const sharesOf = (files: readonly SourceFile[]): SourceFile[][] => {
  const shares: SourceFile[][] = [];
  let room = 0;
  for (const file of files) {
    if (room <= 0) {
      shares.push([]);
      room = shareSize;
    }
    shares.at(-1)!.push(file);
    room -= file.bytes?.length ?? 0;
  }
  return shares;
};

/** The answers of the others are heard between two files. */
const runHere = async (
  shares: SourceFile[][],
  settings: TemplateSettings,
  made: Map<SourceFile, FileDrafts>,
): Promise<void> => {
  for (let files = shares.shift(); files !== undefined; files = shares.shift())
    for (const file of files) {
      await setImmediate();
      made.set(file, draftFile(file, settings));
    }
};

/** Takes one share after the other until none is left. */
const runThread = async (
  shares: SourceFile[][],
  settings: TemplateSettings,
  made: Map<SourceFile, FileDrafts>,
): Promise<void> => {
  const thread = new Worker(program, { execArgv: [] });
  try {
    for (let files = shares.shift(); files !== undefined; files = shares.shift()) {
      const drafts = unpack(await answerOf(thread, files, settings), files);
      for (const [index, file] of files.entries()) made.set(file, drafts[index]!);
    }
  } finally {
    await thread.terminate();
  }
};

const answerOf = async (
  thread: Worker,
  files: readonly SourceFile[],
  settings: TemplateSettings,
): Promise<string> => {
  const share: Share = {
    files: files.map(({ path, bytes }) => ({ path, bytes: bytes! })),
    settings: plainSettings(settings),
  };
  const over = new AbortController();
  const { signal } = over;
  const ended = once(thread, 'exit', { signal }).then(() => {
    throw new Error('the thread ended');
  });
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  thread.postMessage(share);
  try {
    const [text]: unknown[] = await Promise.race([once(thread, 'message', { signal }), ended]);
    return String(text);
  } finally {
    over.abort();
  }
};

/** Whoever gives the settings may give more with them, and not all of that can be sent. */
export const plainSettings = ({ defaults, variables, strict }: TemplateSettings): TemplateSettings => {
  const { mode, surplus, adopt, limits } = defaults;
  return { defaults: { mode, surplus, adopt, limits }, variables, strict };
};
