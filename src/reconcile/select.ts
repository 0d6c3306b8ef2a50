import type { ActualTemplate, DesiredState, DesiredTemplate } from '../model/template.ts';
import { applying } from '../plan/guard.ts';
import type { TemplateResult } from '../result.ts';
import { bindTemplates, type BoundTemplate, type UnboundTemplate } from '../plan/bind.ts';
import type { ResultCache } from './cache.ts';
import type { ClientRun, PassOptions } from './run.ts';

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
export const bindSelected = (
  desired: DesiredState,
  described: DesiredState,
  actual: readonly ActualTemplate[],
): (BoundTemplate | UnboundTemplate)[] => {
  const selected = new Set(desired.templates);
  const all = bindTemplates(described.templates, described.unusable, actual);
  return all.filter((one) => selected.has(one.desired));
};

/** Without those that another client of this service compares too: each would undo the writes of the other. */
export const exceptOthers = async (
  selected: readonly (BoundTemplate | UnboundTemplate)[],
  run: ClientRun,
): Promise<(BoundTemplate | UnboundTemplate)[]> => {
  const ids = selected.flatMap((one) => ('actual' in one ? one.actual.id : []));
  const asked = run.isDryRun ? run.pass.memory.comparedByOthers(ids) : run.writer.compare(ids);
  const others = await run.save(asked);
  return selected.map((one) => {
    const name = 'actual' in one ? others?.get(one.actual.id) : undefined;
    if (name === undefined) return one;
    const reason = `also managed as client ${name} in the same saved state: describe it for one client only. If ${name} was renamed, keep its name or its client token; else this ends a day after its last pass`;
    return { desired: one.desired, status: 'failed', reason };
  });
};

interface Described extends Pick<DesiredTemplate, 'template' | 'id'> {
  readonly source: { readonly file: string };
}

/** A template whose state is not in any reading. */
export const unseen = (
  { template, id, source: { file } }: Described,
  status: 'failed' | 'held',
  message: string,
  { client, revisionOf }: PassOptions,
): TemplateResult => ({
  client,
  template,
  id,
  file,
  revision: revisionOf(file),
  status,
  message,
  inSync: 0,
  parked: 0,
  ignored: 0,
  differences: [],
  subdomains: [],
});

/**
 * A listing without any template that the state knows is probably that of another account, about which the state says
 * nothing: all templates are held, and nothing is learnt of them. Null if it shows one, or a person takes
 * the listing's word. Nobody is told to set another state: if the listing is wrong, that one knows nothing of what was sent. A
 * new name alone takes this state over with the token; not where the old one is listed too.
 */
export const ofAnotherAccount = async (
  { templates }: DesiredState,
  actual: readonly ActualTemplate[],
  pass: PassOptions & { readonly cache?: ResultCache },
): Promise<TemplateResult[] | null> => {
  const isCached = actual.some(({ id }) => pass.cache?.byId.has(id));
  const known = pass.acceptLoss || isCached ? [] : await pass.memory.templates();
  const listed = new Set(actual.map(({ id }) => id));
  if (known.length === 0 || known.some(({ templateId }) => listed.has(templateId))) return null;
  const what = known.length === 1 ? 'the template' : `any of the ${known.length} templates`;
  const reason = `the service does not list ${what} that the saved state knows: this state is of another account, so correct the tokens, or list both accounts under \`clients\`, this one by a new name; if they are gone, run`;
  return templates.map((one) => unseen(one, 'held', `${reason} ${applying('--accept-loss', one)}`, pass));
};

/** Templates of invalid or missing files are held. */
export const unusableTemplates = async (
  { unusable, files }: DesiredState,
  pass: PassOptions,
): Promise<TemplateResult[]> => {
  const broken = unusable.map(({ template, id, file, message }) =>
    unseen({ template: template ?? file, id, source: { file } }, 'held', message, pass),
  );
  if (files > 0 || pass.templates.length > 0) return broken;
  const known = await pass.memory.templates();
  const message = 'there are no template files any more: nothing is written until there are some again';
  return known.map(({ template, templateId: id, file }) =>
    unseen({ template, id, source: { file } }, 'held', message, pass),
  );
};
