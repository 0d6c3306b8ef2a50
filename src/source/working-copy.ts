import { isFragmentPath } from '../model/template.ts';
import { contentHash, openOwnFiles } from './own-files.ts';
import { createTemplateLoader, type LoadOptions } from './load.ts';
import { UserError } from '../errors.ts';
import type { PublishedFile } from '../model/published.ts';
import type { DesiredState } from '../model/template.ts';

/** The template files of this machine as they are at one moment, and as they would be with other texts. */
export interface WorkingCopy {
  /** The content of a file; undefined if it was not read. */
  readonly read: (path: string) => Promise<Buffer | undefined>;
  /** The templates if these files had these texts. */
  readonly load: (texts: ReadonlyMap<string, string>) => Promise<DesiredState>;
}

/** Throws a UserError if the files keep changing, or a given path leads nowhere. */
export const openWorkingCopy = async (options: LoadOptions): Promise<WorkingCopy> => {
  const own = openOwnFiles(options.paths, options.cwd);
  const published = await own.read();
  if (published === null)
    throw new UserError(`the template files in ${options.paths.join(', ')} cannot be read, or keep changing`);
  const loader = createTemplateLoader();
  const known = new Map<string, Buffer>();
  const contentOf = async (hash: string): Promise<Buffer> => {
    const content = known.get(hash) ?? (await own.contentOf(hash));
    known.set(hash, content);
    return content;
  };
  const withText = (file: PublishedFile, text: string | undefined): PublishedFile => {
    if (text === undefined) return file;
    const bytes = Buffer.from(text);
    const hash = contentHash(bytes, isFragmentPath(file.path));
    known.set(hash, bytes);
    return { ...file, content: { hash, size: bytes.length } };
  };
  return {
    read: async (path) => {
      const content = published.files.find((file) => file.path === path)?.content;
      return content && 'hash' in content ? contentOf(content.hash) : undefined;
    },
    load: (texts) =>
      loader.loadPublished(
        options,
        published.files.map((file) => withText(file, texts.get(file.path))),
        async (hashes) =>
          new Map(await Promise.all(hashes.map(async (hash) => [hash, await contentOf(hash)] as const))),
      ),
  };
};
