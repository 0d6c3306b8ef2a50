import { statSync } from 'node:fs';

/** Which files lie at these paths, whatever they hold: another text once one of them was removed or replaced. */
export const identityOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stats ? `${stats.dev}:${stats.ino}` : 'none';
    })
    .join(' ');
