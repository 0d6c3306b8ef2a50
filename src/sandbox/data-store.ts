import { exampleData } from './example-data.ts';
import type { SandboxData } from './data.ts';

/** The data after a change, and the answer to the caller. */
interface DataChange<T> {
  readonly data: SandboxData;
  readonly answer: T;
}

export interface DataStore {
  /** The current data; the same object while nothing changes. */
  read(): Promise<SandboxData>;
  /** Changes are serialised. If `edit` throws, nothing changes. */
  change<T>(edit: (data: SandboxData) => DataChange<T>): Promise<T>;
}

/** Data in memory. */
export const memoryStore = (): DataStore => {
  let data = exampleData();
  return {
    read: async () => data,
    change: async (edit) => {
      const change = edit(data);
      data = change.data;
      return change.answer;
    },
  };
};
