import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import type { TemplateResult } from '../result.ts';
import { bindTemplates, type BoundTemplate, type UnboundTemplate } from '../plan/bind.ts';
import { unseenResult } from './core/result.ts';
import type { PassInputs } from './ports.ts';
import type { PassOptions } from './shell/client-run.ts';

/** The part of the files that a pass is about. */
export const selectTemplates = (desired: DesiredState, names: readonly string[]): DesiredState => {
  if (names.length === 0) return desired;
  const isNamed = ({ template }: { readonly template: string | null }): boolean =>
    template !== null && names.includes(template);
  return {
    ...desired,
    templates: desired.templates.filter(isNamed),
    unusable: desired.unusable.filter(isNamed),
  };
};

/** What the selected templates are bound to, by all that the files describe. */
export const bindSelected = ({
  desired,
  described,
  actual,
}: PassInputs): (BoundTemplate | UnboundTemplate)[] => {
  const selected = new Set(desired.templates);
  const all = bindTemplates(described.templates, described.unusable, actual);
  return all.filter((one) => selected.has(one.desired));
};

/** A template whose state is not in any reading. */
export const unseen = (
  { template, id, source: { file } }: DesiredTemplate,
  status: 'failed' | 'held',
  message: string,
  { client, revisionOf }: PassOptions,
): TemplateResult =>
  unseenResult({ client, template, id, file, revision: revisionOf(file) }, status, message);

/** Templates of invalid or missing files are held. */
export const unusableTemplates = async (
  { unusable, files }: DesiredState,
  { client, memory, revisionOf, templates }: PassOptions,
): Promise<TemplateResult[]> => {
  const broken = unusable.map(({ template, id, file, message }) => {
    const identity = { client, template: template ?? file, id, file, revision: revisionOf(file) };
    return unseenResult(identity, 'held', message);
  });
  if (files > 0 || templates.length > 0) return broken;
  const known = await memory.templates();
  const message = 'there are no template files any more: nothing is written until there are some again';
  return known.map(({ template, templateId, file }) =>
    unseenResult({ client, template, id: templateId, file, revision: null }, 'held', message),
  );
};
