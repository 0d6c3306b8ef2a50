import { statSync } from 'node:fs';

/** Identifies the files at these paths, not their content: a different text once one was removed or replaced. */
export const identityOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.dev}:${stats.ino}` : 'none';
    })
    .join(' ');
