import { clientMemory } from './client-memory.ts';
import type { ClientMemory } from './memory.ts';
import type { StateFile } from './state-file.ts';
import type { StoreLocation } from './store-location.ts';
import { statementsIn, type Rows } from './tables.ts';

/** The rows of a file that was opened. `life`: of that opening. */
export const rowsIn = (state: StateFile, life: number): Rows => ({
  sql,
  ask: (task) => state.ask(life, task),
  change: (task, size) => state.change(life, task, size),
  now: () => Promise.resolve(state.now.now),
  life: () => `${state.file} ${life}`,
});

/** The state of one client. `scope`: whose state, the client's own or that of its earlier name. */
export const memoryIn = (
  state: StateFile,
  life: number,
  location: StoreLocation,
  scope?: string,
): ClientMemory => {
  const memory = clientMemory(rowsIn(state, life), location, scope);
  return {
    ...memory,
    begin: async (entry) => {
      const begun = await memory.begin(entry);
      state.noteEntry(begun.id);
      return begun;
    },
  };
};

const sql = statementsIn({
  schema: '',
  text: (column) => `CAST(${column} AS BLOB) AS ${column}`,
  each: (parameter) => `json_each(${parameter})`,
  // Some 30 MB.
  mostWrites: 50_000,
});
