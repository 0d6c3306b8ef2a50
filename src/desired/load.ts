import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { DesiredState } from '../model/template.ts';
import { outlineOf, type FileOutline } from './outline.ts';
import { isMissing, readSnapshot, type Outliner, type SourceFile } from './snapshot.ts';
import { desiredState, type Reading } from './desired-state.ts';
import { draftTemplate, type TemplateDraft, type TemplateSettings } from './template-draft.ts';

export interface LoadOptions extends TemplateSettings {
  /** Directories, read to any depth, and files. */
  readonly paths: readonly string[];
}

export interface TemplateLoader {
  /** Reads all files as they are at one moment. What is wrong with them comes back as problems, nothing throws. */
  readonly load: (options: LoadOptions) => Promise<DesiredState>;
}

/** A loader that remembers, from one load to the next, what it made of each content: an unchanged file costs nothing. */
export const createTemplateLoader = (): TemplateLoader => {
  let outlines: Map<string, FileOutline> = new Map();
  let drafts: Map<string, readonly TemplateDraft[]> = new Map();
  return {
    load: async ({ paths, ...settings }) => {
      const usedOutlines: typeof outlines = new Map();
      const usedDrafts: typeof drafts = new Map();
      const outliner: Outliner = (bytes, isFragment) => {
        const hash = createHash('sha256')
          .update(isFragment ? '_' : ' ')
          .update(bytes)
          .digest('base64');
        const outline = outlines.get(hash) ?? usedOutlines.get(hash) ?? outlineOf(bytes, isFragment);
        usedOutlines.set(hash, outline);
        return { hash, outline };
      };
      const snapshot = await readSnapshot(paths, outliner);
      const readings: Reading[] = [];
      const settingsKey = JSON.stringify(settings);
      for (const file of snapshot.files.filter(({ isFragment }) => !isFragment)) {
        const key = settingsKey + JSON.stringify(inputsOf(file));
        const known = drafts.get(key);
        if (known === undefined) await setImmediate();
        const made = known ?? file.outline.documents.map((outline) => draftTemplate(file, outline, settings));
        usedDrafts.set(key, made);
        readings.push({ file, drafts: made });
      }
      [outlines, drafts] = [usedOutlines, usedDrafts];
      return desiredState(snapshot, readings, settings.strict);
    },
  };
};

/** All that the template depends on, but for the settings: its own content and that of every fragment. */
const inputsOf = (file: SourceFile, seen: Set<SourceFile> = new Set()): unknown => {
  seen.add(file);
  const includes = [...file.includes].map(([text, target]) => {
    if (isMissing(target)) return [text, target];
    return [text, seen.has(target) ? target.path : inputsOf(target, seen)];
  });
  return [file.path, file.hash, includes];
};
