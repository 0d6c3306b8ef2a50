import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const folder = path.join('.github', 'docs');
export const docs = readdirSync(folder).map((name) => path.join(folder, name));
export const pages = [
  'README.md',
  path.join('.github', 'CONTRIBUTING.md'),
  path.join('.github', 'CHANGELOG.md'),
  ...docs,
];
export const textOf = (page: string): string => readFileSync(page, 'utf8');

/** The code blocks of a page in their order, those of one language if it is given. */
export const blocksOf = (page: string, language = '[a-z]*'): string[] =>
  [...textOf(page).matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, text = '']) => text,
  );
