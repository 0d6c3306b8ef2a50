import path from 'node:path';
import { limit } from '../lib/limit.ts';
import { maxFileSize } from '../desired/text.ts';
import { isFragmentPath } from '../model/template.ts';
import type { PublishedFile } from '../model/published.ts';
import { readBeginning } from '../regular-file.ts';
import { contentHash } from './content.ts';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import type { DesiredState } from '../model/template.ts';

/** The template files of this machine, and as they would be with other texts. */
export interface WorkingCopy {
  /** The content of a file. */
  readonly read: (path: string) => Promise<Buffer | undefined>;
  /** The templates if these files had these texts. */
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
}

/** What texts say as template files, by their paths; nothing else is read. */
export const loadTexts = (
  options: Omit<LoadOptions, 'paths'>,
  texts: ReadonlyMap<string, string>,
): Promise<DesiredState> => {
  const contents = new Map<string, Buffer>();
  const files = [...texts].map(([file, text]): PublishedFile => {
    const bytes = Buffer.from(text);
    const hash = contentHash(bytes, isFragmentPath(file));
    contents.set(hash, bytes);
    const content = { hash, size: bytes.length };
    return {
      path: file,
      root: path.dirname(file),
      relative: path.basename(file),
      isListed: true,
      content,
    };
  });
  return createTemplateLoader().loadPublished({ ...options, paths: [] }, files, () =>
    Promise.resolve(contents),
  );
};

export const openWorkingCopy = (options: LoadOptions): Promise<WorkingCopy> => {
  let given: ReadonlyMap<string, string> = new Map();
  const loader = createTemplateLoader({ textOf: (file) => given.get(file) });
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
