import { readFileSync } from 'node:fs';
import path from 'node:path';

/** The version of this program, as its package says it. */
export const readVersion = (): string => {
  const file: unknown = JSON.parse(readFileSync(path.join(import.meta.dirname, '../package.json'), 'utf8'));
  return typeof file === 'object' && file !== null && 'version' in file ? String(file.version) : 'unknown';
};
