import path from 'node:path';
import { limit } from '../lib/limit.ts';
import { maxFileSize } from '../desired/parse-file.ts';
import { readBeginning } from '../regular-file.ts';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import type { DesiredState } from '../model/template.ts';

/** The template files of this machine, and as they would be with other texts. */
export interface WorkingCopy {
  /** The content of a file. */
  readonly read: (path: string) => Promise<Buffer | undefined>;
  /** The templates if these files had these texts. */
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
}

export const openWorkingCopy = (options: LoadOptions): Promise<WorkingCopy> => {
  let given: ReadonlyMap<string, string> = new Map();
  const loader = createTemplateLoader({
    read: (file, readFile) => {
      const text = given.get(file);
      return text === undefined ? readFile() : Promise.resolve(Buffer.from(text));
    },
  });
  const inTurn = limit(1);
  return Promise.resolve({
    read: (file) => readBeginning(path.resolve(options.cwd ?? '', file), maxFileSize + 1),
    load: (texts) =>
      inTurn(() => {
        given = texts;
        return loader.load(options);
      }),
  });
};
