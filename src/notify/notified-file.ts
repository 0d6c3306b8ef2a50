import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { makeDirectory } from '../directory.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { neverNotified, type LastNotified } from './health-change.ts';
import { states } from './health.ts';

/** The last messages to receivers about one client's templates, so that a restart repeats none. */
export interface NotifiedFile {
  readonly get: (receiver: string, template: string | null) => LastNotified;
  readonly set: (receiver: string, template: string | null, lastNotified: LastNotified) => void;
  readonly remove: () => void;
}

export interface NotifiedFileOptions {
  readonly file: string;
  /** Called once if the file cannot be written; messages go on. */
  readonly onError: (error: unknown) => void;
}

/** Holds only templates that are not in sync. An unreadable file counts as empty. */
export const openNotifiedFile = ({ file, onError }: NotifiedFileOptions): NotifiedFile => {
  const notified = read(file);
  let isUsable = true;
  const save = (): void => {
    if (!isUsable) return;
    try {
      const receivers = Object.fromEntries(
        [...notified].map(([name, map]) => [name, Object.fromEntries(map)]),
      );
      makeDirectory(path.dirname(file), 0o700);
      writeAtomically(file, `${JSON.stringify({ version: 1, receivers })}\n`, { mode: 0o600 });
    } catch (error) {
      isUsable = false;
      onError(error);
    }
  };
  return {
    get: (receiver, template) => notified.get(receiver)?.get(keyOf(template)) ?? neverNotified,
    set: (receiver, template, { state, keys }) => {
      const map = notified.get(receiver) ?? new Map<string, LastNotified>();
      const key = keyOf(template);
      const before = map.get(key) ?? neverNotified;
      if (before.state === state && before.keys.join() === keys.join()) return;
      if (state === 'in-sync') map.delete(key);
      else map.set(key, { state, keys: [...keys] });
      notified.set(receiver, map);
      save();
    },
    remove: () => rmSync(file, { force: true }),
  };
};

/** A client as a whole has no name; a template's name is never empty. */
const keyOf = (template: string | null): string => template ?? '';

const fileSchema = z.object({
  version: z.literal(1),
  receivers: z.record(
    z.string(),
    z.record(z.string(), z.object({ state: z.enum(states), keys: z.array(z.string()) })),
  ),
});

const read = (file: string): Map<string, Map<string, LastNotified>> => {
  try {
    const { receivers } = fileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
    return new Map(Object.entries(receivers).map(([name, map]) => [name, new Map(Object.entries(map))]));
  } catch {
    return new Map();
  }
};
