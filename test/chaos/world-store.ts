import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import Database from 'libsql';
import type { Random } from './random.ts';

/** Where the processes of a round keep what they remember. */
export interface WorldStore {
  readonly env: Readonly<Record<string, string>>;
  /** Whether a process that does not answer is taken over, so that it may also be stopped for a while. */
  readonly takesOver: boolean;
  /** Before processes start. */
  keep(): Promise<void>;
  /** Takes memory away, all of it or the last of it; says what. Processes run only if it takes over. */
  damage(random: Random): Promise<string>;
  /** How many writes are in the history, and how many are still open. */
  count(): Promise<{ readonly history: number; readonly open: number }>;
}

/** In the state directory. */
export const fileWorldStore = (folder: string): Promise<WorldStore> => {
  const state = path.join(folder, 'state');
  return Promise.resolve({
    env: {},
    takesOver: false,
    keep: () => Promise.resolve(),
    damage: async (random) => {
      if (random.chance(0.5)) {
        await rm(state, { recursive: true, force: true });
        return 'state directories lost';
      }
      for (const file of await readdir(state).catch(() => []))
        if (file.startsWith('memory.db'))
          await writeFile(path.join(state, file), 'this is no database '.repeat(300));
      return 'databases damaged';
    },
    count: () => {
      const database = new Database(path.join(state, 'memory.db'));
      const history = database.prepare('SELECT id FROM history').all().length;
      const sent = "SELECT id FROM journal WHERE json_extract(body, '$.state') = 'sent'";
      const open = database.prepare(sent).all().length;
      database.close();
      return Promise.resolve({ history, open });
    },
  });
};
