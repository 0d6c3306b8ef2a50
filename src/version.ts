import { readFileSync } from 'node:fs';

/** The version of this program, as its package says it. */
export const readVersion = (): string => {
  const file: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof file === 'object' && file !== null && 'version' in file ? String(file.version) : 'unknown';
};
