import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { DesiredState } from '../model/template.ts';
import { desiredState } from './desired-state.ts';
import { draftFile, type FileDrafts } from './file-drafts.ts';
import { outlineOf } from './outline.ts';
import {
  isMissing,
  isTrueStill,
  lookAt,
  readSnapshot,
  type Content,
  type Look,
  type Outliner,
  type SourceFile,
} from './snapshot.ts';
import type { TemplateSettings } from './template-draft.ts';
import { draftSideBySide } from './threads.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories, read to any depth, and files. */
  readonly paths: readonly string[];
}

export interface TemplateLoader {
  /**
   * Reads all files as they are at one moment. What is wrong with them comes back as problems, nothing throws. The
   * same files give the same object, and the same text that of its template.
   */
  readonly load: (options: LoadOptions) => Promise<DesiredState>;
  /** Whether files were read before, so that only those that have changed take time. */
  readonly isWarm: () => boolean;
}

/**
 * A loader that remembers, from one load to the next, what it made of each content: an unchanged file costs nothing.
 * In the background it leaves much work to threads of its own, so that this one stays free for everything else.
 */
export const createTemplateLoader = ({ inBackground = false } = {}): TemplateLoader => {
  let former: Former | null = null;
  return {
    isWarm: () => former !== null,
    load: async (options) => {
      if (former?.key !== keyOf(options)) former = null;
      const look = await lookAt(options.paths);
      if (former?.witness && (await isTrueStill(former.witness, look))) return former.state;
      former = await loadAnew(options, look, former, inBackground);
      return former.state;
    },
  };
};

/** All that the files do not say themselves. */
const keyOf = (options: LoadOptions): string => JSON.stringify(options);

/** What a load leaves for the next one under the same settings. */
interface Former {
  readonly key: string;
  readonly state: DesiredState;
  readonly witness: Parameters<typeof isTrueStill>[0] | null;
  /** By the signature of a file. */
  readonly contents: ReadonlyMap<string, Content>;
  /** By the hash of a content. */
  readonly outlines: ReadonlyMap<string, Content>;
  /** By all that a file's templates depend on. */
  readonly drafts: ReadonlyMap<string, FileDrafts>;
}

const loadAnew = async (
  options: LoadOptions,
  look: Look,
  former: Former | null,
  inBackground: boolean,
): Promise<Former> => {
  const { paths, ...settings } = options;
  const contents = new Map<string, Content>();
  const outlines = new Map<string, Content>();
  const outliner: Outliner = {
    outline: (bytes, isFragment) => {
      const hash = createHash('sha256')
        .update(isFragment ? '_' : ' ')
        .update(bytes)
        .digest('base64');
      const content = former?.outlines.get(hash) ?? outlines.get(hash) ?? contentOf(hash, bytes, isFragment);
      if (!content.bytes) outlines.set(hash, content);
      return content;
    },
    recall: (signature) => {
      const content = former?.contents.get(signature);
      if (content !== undefined) contents.set(signature, content);
      return content;
    },
    remember: (signature, { hash, outline }) => contents.set(signature, { hash, outline }),
  };
  const snapshot = await readSnapshot(paths, outliner, look);
  for (const { hash, outline } of contents.values())
    if (outline !== notOutlined) outlines.set(hash, { hash, outline });
  const known = former?.drafts ?? new Map<string, FileDrafts>();
  const drafts = await draftAll(snapshot.files, settings, known, inBackground);
  const ofFile = new Map([...drafts.values()].map((made) => [made.file.path, made]));
  const readings = [...ofFile.values()];
  const files = snapshot.files.map((file) => ofFile.get(file.path)?.file ?? file);
  const state = desiredState({ files, missing: snapshot.missing }, readings, settings.strict);
  return { key: keyOf(options), state, witness: snapshot.witness, contents, outlines, drafts };
};

const notOutlined = { documents: [], faults: [] };

/** A file that includes others has to be understood before they can be looked for; all else can wait. */
const contentOf = (hash: string, bytes: Buffer, isFragment: boolean): Content =>
  isFragment || mayInclude(bytes)
    ? { hash, outline: outlineOf(bytes, isFragment) }
    : { hash, outline: notOutlined, bytes };

/** Letters of a key can also be written as escapes, `\\x69`. */
const mayInclude = (bytes: Buffer): boolean =>
  ['include', '\\x', '\\u', '\\U', '\\\n', '\\\r'].some((text) => bytes.includes(text));

const draftAll = async (
  files: readonly SourceFile[],
  settings: TemplateSettings,
  known: ReadonlyMap<string, FileDrafts>,
  inBackground: boolean,
): Promise<Map<string, FileDrafts>> => {
  const templates = files.filter(({ isFragment }) => !isFragment);
  const keyed = templates.map((file) => ({ file, key: JSON.stringify(inputsOf(file)) }));
  const open = keyed.filter(({ key }) => !known.has(key)).map(({ file }) => file);
  const made = await draftSideBySide(open, settings, !inBackground);
  const drafts = new Map<string, FileDrafts>();
  for (const { file, key } of keyed) {
    const found = known.get(key) ?? made.get(file);
    if (found === undefined) await setImmediate();
    drafts.set(key, found ?? draftFile(file, settings));
  }
  return drafts;
};

/** All that the templates of a file depend on, but for the settings: its own content and that of every fragment. */
const inputsOf = (file: SourceFile, seen: Set<SourceFile> = new Set()): unknown => {
  seen.add(file);
  const includes = [...file.includes].map(([text, target]) => {
    if (isMissing(target)) return [text, target];
    return [text, seen.has(target) ? target.path : inputsOf(target, seen)];
  });
  return [file.path, file.hash, includes];
};
