import { exampleData } from './example-data.ts';
import type { SandboxData } from './data.ts';

/** What a change leaves, and what its caller is told. */
interface DataChange<T> {
  readonly data: SandboxData;
  readonly answer: T;
}

export interface DataStore {
  /** The newest data; the same object for as long as nothing changes. */
  read(): Promise<SandboxData>;
  /** Changes come one after another, each on top of the one before. What `edit` throws changes nothing. */
  change<T>(edit: (data: SandboxData) => DataChange<T>): Promise<T>;
}

/** Data that lives as long as its process. */
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
