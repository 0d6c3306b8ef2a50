import { readFile } from 'node:fs/promises';
import { UserError } from '../../src/errors.ts';
import { accept, type Accepted } from '../../src/import/accept.ts';
import type { ActualTemplate, DesiredTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { noMemory } from '../../src/plan/memory.ts';
import { planTemplate } from '../../src/plan/plan.ts';
import { differencesOf } from '../plan/records.ts';
import { openWorkingCopy } from '../../src/source/template-source.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { options, write } from '../desired/load-files.ts';

export const loadIn = async (directory: string): Promise<DesiredTemplate> => {
  const state = await createTemplateLoader().load({ ...options, paths: [directory] });
  const found = state.templates.find(({ template }) => template === 'web');
  if (!found) throw new Error(state.problems.map(({ message }) => message).join('\n'));
  return found;
};

export const differencesIn = (desired: DesiredTemplate, actual: ActualTemplate): Difference[] =>
  differencesOf(planTemplate({ desired, actual, memory: noMemory }));

/** Accepts what the service has into the files of a directory. */
export const acceptInto = async (
  directory: string,
  actual: ActualTemplate,
): Promise<Accepted | { refusals: readonly string[] }> => {
  const copy = openWorkingCopy({ ...options, paths: [directory] });
  const before = await copy.load(new Map());
  const template = before.templates.find((one) => one.template === 'web')!;
  const texts = new Map<string, string>();
  for (const file of [template.source.file, ...(template.fragments ?? [])])
    texts.set(file, await readFile(file, 'utf8'));
  const differences = differencesIn(template, actual);
  const accepted = await accept({
    template,
    differences,
    texts,
    before,
    load: copy.load,
    sharers: new Map(),
  }).catch((error: unknown) => {
    if (!(error instanceof UserError)) throw error;
    return { refusals: error.message.split('\n').slice(1) };
  });
  if ('files' in accepted)
    await write('', Object.fromEntries(accepted.files.map(({ path, after }) => [path, after])));
  return accepted;
};
