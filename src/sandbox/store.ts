import { existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { makeDirectory } from '../directory.ts';
import { codeOf, UserError } from '../errors.ts';
import { writeAtomically } from '../lib/write-atomically.ts';
import { SandboxData } from './data.ts';
import { exampleData } from './example-data.ts';

/** The data as it is now, as an object of one's own to change; what is written is it from then on. */
export interface SandboxStore {
  read(): SandboxData;
  write(data: SandboxData): void;
}

export const memoryStore = (): SandboxStore => {
  let known = exampleData();
  return {
    read: () => structuredClone(known),
    write: (data) => void (known = structuredClone(data)),
  };
};

/**
 * Data in one JSON file, replaced as a whole with each change, which several processes may read. A missing file means the
 * example data, which `reset` restores. Throws a `UserError` for a file that cannot be used.
 */
export const fileStore = (file: string, reset: boolean): SandboxStore => {
  const write = (data: SandboxData): void => writeAtomically(file, JSON.stringify(data), { mode: 0o600 });
  const read = (): SandboxData => (existsSync(file) ? parse(file) : exampleData());
  try {
    makeDirectory(path.dirname(file), 0o700);
    if (reset) rmSync(file, { force: true });
    if (!existsSync(file)) write(exampleData());
    read();
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`The sandbox cannot use its data file ${file}: ${codeOf(error)}`, { cause: error });
  }
  return { read, write };
};

const parse = (file: string): SandboxData => {
  const text = readFileSync(file, 'utf8');
  try {
    // Jitless: compiling the schema takes longer than reading a file with it.
    return SandboxData.parse(JSON.parse(text), { jitless: true });
  } catch (error) {
    const advice = 'Use --reset to start again with the example data, or repair the file.';
    throw new UserError(`The sandbox's data file ${file} is damaged. ${advice}`, { cause: error });
  }
};
