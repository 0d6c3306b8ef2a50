import { statSync } from 'node:fs';
import path from 'node:path';
import { isAtRest, timesMark } from '../regular-file.ts';
import { badClientName, clientFileSchema, clientNamePattern } from './config-schema.ts';
import { parseSettings, readText, valueAt, type Section } from './document.ts';
import { Problems } from './problems.ts';

/** A file with one client, as it was read last. */
export interface ClientFile {
  /** As people know it. */
  readonly file: string;
  readonly name: string;
  readonly section: Section;
  /** What is wrong with the file by itself. */
  readonly problems: Problems;
}

/** Reads files with one client each. One that is unchanged is the same object as before. */
export const clientFileReader = (cwd: string): ((absolute: string) => ClientFile) => {
  const known = new Map<string, KnownClientFile>();
  return (absolute) => {
    const before = known.get(absolute);
    const stamp = stampOf(absolute);
    if (before !== undefined && before.stamp === stamp && stamp !== null) return before.read;
    const now = readClientFile(absolute, cwd);
    const read =
      before !== undefined && before.text !== null && before.text === now.text ? before.read : now.read;
    known.set(absolute, { ...now, stamp, read });
    return read;
  };
};

interface KnownClientFile {
  /** Null if it cannot be read. */
  readonly text: string | null;
  readonly read: ClientFile;
  readonly stamp: string | null;
}

const readClientFile = (absolute: string, cwd: string): Pick<KnownClientFile, 'text' | 'read'> => {
  const relative = path.relative(cwd, absolute);
  const file = relative.startsWith('..') ? absolute : relative;
  const problems = new Problems();
  const request = { absolute, file, what: 'client file', schema: clientFileSchema, problems } as const;
  const text = readText(request);
  const section = parseSettings(text ?? '', request).section([]);
  const given = valueAt(section, 'name');
  const name = typeof given === 'string' ? given : path.basename(absolute).replace(/\.ya?ml$/, '');
  if (!clientNamePattern.test(name) && !problems.concern('name'))
    problems.add(file, `${badClientName}: rename the file, or set name in it`, 'name');
  return { text, read: { file, name, section, problems } };
};

/** Null for a file that changed a moment ago: it may change again without another time. */
const stampOf = (absolute: string): string | null => {
  const stats = statSync(absolute, { bigint: true, throwIfNoEntry: false });
  return stats !== undefined && isAtRest(stats) ? timesMark(stats) : null;
};
