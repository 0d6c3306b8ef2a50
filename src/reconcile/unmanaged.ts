import type { ActualTemplate, DesiredState, DesiredTemplate } from '../model/template.ts';
import type { Entry } from '../state/memory.ts';
import type { ClientRun } from './run.ts';
import { openTemplate, type Circumstances } from './state.ts';
import type { Asked } from './times.ts';

/**
 * Settles the journals of templates that no file describes any more, in the same way, with a file that wants nothing. What a
 * person says of others, as `--retry`, does not hold for them. `described`: all that the files describe, also what this pass is
 * not about, or what has errors.
 */
export const settleUnmanaged = async (
  journal: ReadonlyMap<number, readonly Entry[]>,
  actual: readonly ActualTemplate[],
  described: DesiredState,
  asked: Asked,
  circumstances: Circumstances,
  run: ClientRun,
): Promise<void> => {
  const unasked = { ...circumstances, force: false, retry: false, acceptLoss: false };
  for (const [templateId, entries] of journal) {
    const listed = actual.find(({ id }) => id === templateId);
    if (!listed || isDescribed(described, listed)) continue;
    const stored = await run.pass.memory.template(templateId);
    const desired = wantingNothing(entries[0]!);
    await run.keep(openTemplate({ desired, actual: listed, notes: [] }, stored, entries, asked, unasked));
  }
};

/** If there are no files any more, templates still count as described. */
const isDescribed = (
  { templates, unusable, files }: DesiredState,
  { id: templateId, name }: ActualTemplate,
): boolean =>
  files === 0 ||
  [...templates, ...unusable].some(({ id, template }) => id === templateId || template === name);

const wantingNothing = ({ template, templateId, file }: Entry): DesiredTemplate => ({
  template,
  id: templateId,
  source: { file, line: 1, column: 1 },
  mode: 'report',
  surplus: 'report',
  adopt: false,
  limits: { maxAdds: 0, maxChangePercent: 100, minRecords: 0 },
  subdomains: [],
  ignore: [],
  records: [],
});
