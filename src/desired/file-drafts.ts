import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { Budget } from './budget.ts';
import { outlineOf } from './outline.ts';
import type { SourceFile } from './snapshot.ts';
import { draftTemplate, type TemplateDraft, type TemplateSettings } from './template-draft.ts';

/** A template file, and what became of its documents. */
export interface FileDrafts {
  readonly file: SourceFile;
  readonly drafts: readonly TemplateDraft[];
}

export const draftFile = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<FileDrafts> => {
  const { bytes, ...rest } = file;
  if (bytes === undefined) return { file, drafts: await draftsOf(file, settings, signal) };
  const outline = await outlineOf(bytes, file.isFragment);
  const drafts = await draftsOf({ ...rest, outline }, settings, signal);
  // What the file says is in the drafts now: only what is wrong with it as a whole is still to be told.
  return { file: { ...rest, outline: { documents: [], faults: outline.faults } }, drafts };
};

const draftsOf = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<TemplateDraft[]> => {
  const budget = new Budget();
  const drafts: TemplateDraft[] = [];
  for (const outline of file.outline.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    drafts.push(await draftTemplate(file, outline, settings, budget));
  }
  return drafts;
};

const stopping = 'the template files were not read to the end: this program is stopping';
