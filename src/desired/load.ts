import { createHash } from 'node:crypto';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import type { DesiredState } from '../model/template.ts';
import { desiredState, noTemplates } from './desired-state.ts';
import { draftFile, type FileDrafts } from './file-drafts.ts';
import type { Found, FoundFile } from './find.ts';
import { outlineOf } from './outline.ts';
import {
  isMissing,
  isNews,
  isTrueStill,
  lookAt,
  readSnapshot,
  type FileContent,
  type Look,
  type Outliner,
  type SourceFile,
  type Witness,
} from './snapshot.ts';
import type { TemplateSettings } from './template-draft.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories, read to any depth, and files. */
  readonly paths: readonly string[];
  /** No template files at all are no error. */
  readonly allowEmpty?: boolean;
}

export interface TemplateLoader {
  /**
   * Reads all files as they are at one moment. What is wrong with them comes back as problems, nothing throws. The
   * same files give the same object, and the same text that of its template. One load after the other; rejects
   * between two templates once the signal is aborted.
   */
  readonly load: (options: LoadOptions, signal?: AbortSignal) => Promise<DesiredState>;
  /** Looks which files there are, for whoever watches them: a load that comes after it need not look again to begin. */
  readonly look: (paths: readonly string[]) => Promise<Found>;
  /** Whether files were read before, so that only those that have changed take time. */
  readonly isWarm: () => boolean;
}

/**
 * A loader that remembers, from one load to the next, what it made of each content: an unchanged file costs nothing.
 * What takes long is done in slices, between which the program answers others.
 */
export const createTemplateLoader = (): TemplateLoader => {
  let former: Former | null = null;
  let news: { readonly paths: readonly string[]; readonly look: Look } | null = null;
  const lookNow = (paths: readonly string[]): Promise<Look> => lookAt(paths, former?.witness?.found);
  /** Only as the first of two looks, which have to agree: what it saw may have changed since. */
  const takeNews = (paths: readonly string[]): Look | null => {
    const taken = news;
    news = null;
    if (!former?.witness || taken?.paths.join('\n') !== paths.join('\n')) return null;
    return isNews(former.witness, taken.look) ? taken.look : null;
  };
  let last: Promise<unknown> = Promise.resolve();
  const loadNow = async (options: LoadOptions, signal?: AbortSignal): Promise<DesiredState> => {
    if (former?.key !== keyOf(options)) former = null;
    const look = takeNews(options.paths) ?? (await lookNow(options.paths));
    if (former?.witness && (await isTrueStill(former.witness, look))) return former.state;
    former = await loadAnew(options, look, former, signal);
    return former.state;
  };
  return {
    isWarm: () => former !== null,
    look: async (paths) => {
      const look = await lookNow(paths);
      news = { paths, look };
      return look.found;
    },
    load: (options, signal) => {
      const begin = (): Promise<DesiredState> => loadNow(options, signal);
      const loaded = last.then(begin, begin);
      last = loaded;
      return loaded;
    },
  };
};

/** All that the files do not say themselves. */
const keyOf = (options: LoadOptions): string => JSON.stringify(options);

/** What a load leaves for the next one under the same settings. */
interface Former {
  readonly key: string;
  readonly state: DesiredState;
  readonly witness: Witness | null;
  /** Those that were at rest. */
  readonly files: ReadonlyMap<FoundFile, SourceFile>;
  /** By the hash of a content. */
  readonly outlines: ReadonlyMap<string, FileContent>;
  /** By all that a file's templates depend on. */
  readonly drafts: ReadonlyMap<string, FileDrafts>;
}

const loadAnew = async (
  options: LoadOptions,
  look: Look,
  former: Former | null,
  signal?: AbortSignal,
): Promise<Former> => {
  const { paths, allowEmpty = false, ...settings } = options;
  const read = new Map<FoundFile, SourceFile>();
  const outlines = new Map<string, FileContent>();
  const outliner: Outliner = {
    outline: async (bytes, isFragment) => {
      const hash = createHash('sha256')
        .update(isFragment ? '_' : ' ')
        .update(bytes)
        .digest('base64');
      const content =
        former?.outlines.get(hash) ?? outlines.get(hash) ?? (await contentOf(hash, bytes, isFragment));
      if (!content.bytes) outlines.set(hash, content);
      return content;
    },
    recall: (found) => {
      const file = former?.files.get(found);
      if (file) read.set(found, file);
      return file;
    },
    remember: (found, file) => read.set(found, file),
  };
  const snapshot = await readSnapshot(paths, outliner, look);
  const known = former?.drafts ?? new Map<string, FileDrafts>();
  const drafts = await draftAll(snapshot.files, settings, known, signal);
  const ofFile = new Map([...drafts.values()].map((made) => [made.file.path, made]));
  const readings = [...ofFile.values()];
  const files = snapshot.files.map((file) => ofFile.get(file.path)?.file ?? file);
  const { missing } = snapshot;
  const mayHaveNone = allowEmpty || missing.length > 0;
  const absent = readings.length > 0 || mayHaveNone ? [] : [noTemplates(paths)];
  const state = desiredState({ files, missing }, readings, absent, settings.strict);
  for (const [found, file] of read) {
    read.set(found, ofFile.get(file.path)?.file ?? file);
    if (file.outline.documents.length > 0) outlines.set(file.hash, file);
  }
  return { key: keyOf(options), state, witness: snapshot.witness, files: read, outlines, drafts };
};

const notOutlined = { documents: [], faults: [] };

/** A file that includes others has to be understood before they can be looked for; all else can wait. */
const contentOf = async (hash: string, bytes: Buffer, isFragment: boolean): Promise<FileContent> =>
  isFragment || mayInclude(bytes)
    ? { hash, outline: await outlineOf(bytes, isFragment) }
    : { hash, outline: notOutlined, bytes };

/** Letters of a key can also be written as escapes, `\\x69`. */
const mayInclude = (bytes: Buffer): boolean =>
  ['include', '\\x', '\\u', '\\U', '\\\n', '\\\r'].some((text) => bytes.includes(text));

const draftAll = async (
  files: readonly SourceFile[],
  settings: TemplateSettings,
  known: ReadonlyMap<string, FileDrafts>,
  signal?: AbortSignal,
): Promise<Map<string, FileDrafts>> => {
  const drafts = new Map<string, FileDrafts>();
  for (const file of files) {
    if (file.isFragment) continue;
    const key = inputKeyOf(file);
    if (isYieldDue()) await yieldToOthers();
    drafts.set(key, known.get(key) ?? (await draftFile(file, settings, signal)));
  }
  return drafts;
};

/** Of files that include no other, which stay the same objects as long as they do not change. */
const inputKeys = new WeakMap<SourceFile, string>();

const inputKeyOf = (file: SourceFile): string => {
  const known = inputKeys.get(file);
  if (known !== undefined) return known;
  const key = JSON.stringify(inputsOf(file));
  if (file.includes.size === 0) inputKeys.set(file, key);
  return key;
};

/** All that the templates of a file depend on, but for the settings: its own content and that of every fragment. */
const inputsOf = (file: SourceFile): unknown => {
  const files = [file];
  const numbers = new Map([[file, 0]]);
  const numberOf = (fragment: SourceFile): number => {
    const number = numbers.get(fragment) ?? files.push(fragment) - 1;
    numbers.set(fragment, number);
    return number;
  };
  const inputs: unknown[] = [];
  // The fragments join the list while it is gone through: however deep they are, nothing is nested.
  for (const { path, hash, includes } of files) {
    const targets = [...includes].map(([text, target]) => [
      text,
      isMissing(target) ? target : numberOf(target),
    ]);
    inputs.push([path, hash, targets]);
  }
  return inputs;
};
