import { Budget } from './budget.ts';
import { outlineOf } from './outline.ts';
import type { SourceFile } from './snapshot.ts';
import { draftTemplate, type TemplateDraft, type TemplateSettings } from './template-draft.ts';

/** A template file, and what became of its documents. */
export interface FileDrafts {
  readonly file: SourceFile;
  readonly drafts: readonly TemplateDraft[];
}

export const draftFile = (file: SourceFile, settings: TemplateSettings): FileDrafts => {
  const { bytes, ...rest } = file;
  if (bytes === undefined) return { file, drafts: draftsOf(file, settings) };
  const outline = outlineOf(bytes, file.isFragment);
  const drafts = draftsOf({ ...rest, outline }, settings);
  // What the file says is in the drafts now: only what is wrong with it as a whole is still to be told.
  return { file: { ...rest, outline: { documents: [], faults: outline.faults } }, drafts };
};

const draftsOf = (file: SourceFile, settings: TemplateSettings): TemplateDraft[] => {
  const budget = new Budget();
  return file.outline.documents.map((outline) => draftTemplate(file, outline, settings, budget));
};
