import type { SourceFile } from './source-file.ts';
import { UserError } from '../errors.ts';
import { isYieldDue, yieldToOthers } from '../lib/yield.ts';
import { Budget } from './budget.ts';
import { parseFile } from './parse-file.ts';
import { resolveTemplate, type ResolvedTemplate, type TemplateSettings } from './resolve-template.ts';

/** A template file and its resolved documents. */
export interface ResolvedFile {
  readonly file: SourceFile;
  readonly templates: readonly ResolvedTemplate[];
  readonly usedVariables: ReadonlySet<string>;
}

export const resolveFile = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<ResolvedFile> => {
  const { bytes, ...rest } = file;
  if (bytes === undefined) return { file, ...(await resolveTemplates(file, settings, signal)) };
  const parsed = await parseFile(bytes, file.isFragment);
  const resolved = await resolveTemplates({ ...rest, parsed }, settings, signal);
  // The documents are in the templates now; only the diagnostics of the file are still needed.
  return { file: { ...rest, parsed: { documents: [], diagnostics: parsed.diagnostics } }, ...resolved };
};

const resolveTemplates = async (
  file: SourceFile,
  settings: TemplateSettings,
  signal?: AbortSignal,
): Promise<Omit<ResolvedFile, 'file'>> => {
  const budget = new Budget();
  const templates: ResolvedTemplate[] = [];
  for (const document of file.parsed.documents) {
    if (isYieldDue()) await yieldToOthers();
    if (signal?.aborted === true) throw new UserError(stopping);
    templates.push(await resolveTemplate(file, document, settings, budget));
  }
  return { templates, usedVariables: budget.usedVariables };
};

const stopping = 'loading of template files was cut short: this program is shutting down';
