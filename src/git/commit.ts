import { realpathSync } from 'node:fs';
import { checkoutOf } from './checkout.ts';
import { openObjects } from './objects.ts';

/** Who made a commit, and the first line of its message. */
export interface CommitWords {
  readonly author: string;
  readonly subject: string;
}

/** Reads a commit from the checkout that a file is in; null if it is not there or cannot be read. */
export const readCommit = (file: string, id: string): CommitWords | null => {
  try {
    const checkout = checkoutOf(realpathSync.native(file));
    if (checkout === null) return null;
    const objects = openObjects(checkout.gitDir, id);
    try {
      const object = objects.read(id);
      return object?.kind === 'commit' ? wordsOf(object.content.subarray(0, maxRead)) : null;
    } finally {
      objects.close();
    }
  } catch {
    return null;
  }
};

/** Headers end at the first empty line, the subject at the next one (git-commit, "Discussion"). */
const wordsOf = (content: Buffer): CommitWords => {
  const [, encoding] = /^encoding (.+)$/m.exec(content.toString('latin1').split('\n\n', 1)[0] ?? '') ?? [];
  const text = decoded(content, encoding);
  const end = text.indexOf('\n\n');
  const [, author = ''] = /^author (.*?) ?<.*$/m.exec(end === -1 ? text : text.slice(0, end)) ?? [];
  const message = end === -1 ? '' : text.slice(end).trimStart();
  const subject = (message.split(/\n\s*\n/, 1)[0] ?? '').replaceAll(/\s*\n\s*/g, ' ');
  return { author: cut(author.trim(), 100), subject: cut(subject.trim(), 200) };
};

const decoded = (content: Buffer, encoding = 'utf-8'): string => {
  try {
    return new TextDecoder(encoding).decode(content);
  } catch {
    return content.toString('utf8');
  }
};

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${Array.from(text.slice(0, most)).slice(0, -1).join('')}…`;

/** Bytes: signatures and long lists of parents stand before the message. */
const maxRead = 64 * 1_024;
