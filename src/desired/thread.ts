import { parentPort } from 'node:worker_threads';
import { draftFile } from './file-drafts.ts';
import { pack } from './packed.ts';
import type { Share } from './threads.ts';

/* What a thread beside the main one runs: each message is a share of the files, and is answered by their drafts. */

parentPort?.on('message', ({ files, settings }: Share) => {
  const drafts = files.map((file) =>
    draftFile(
      {
        ...file,
        hash: '',
        isFragment: false,
        outline: { documents: [], faults: [] },
        includes: new Map<string, never>(),
      },
      settings,
    ),
  );
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort?.postMessage(pack(drafts));
});
