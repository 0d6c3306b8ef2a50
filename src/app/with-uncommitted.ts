import type { DesiredState } from '../model/template.ts';
import type { PassResult } from '../result.ts';

/** Marks templates of which a file or a fragment differs from its commit. Without any, returns the same object. */
export const withUncommitted = (
  result: PassResult,
  { templates: desired }: Pick<DesiredState, 'templates'>,
  isUncommitted: (file: string) => boolean,
): PassResult => {
  const fragments = new Map(desired.map(({ template, fragments: included = [] }) => [template, included]));
  let hasAny = false;
  const templates = result.templates.map((one) => {
    const files = [one.file, ...(fragments.get(one.template) ?? [])];
    if (one.revision === null || !files.some(isUncommitted)) return one;
    hasAny = true;
    return { ...one, uncommitted: true } as const;
  });
  return hasAny ? { ...result, templates } : result;
};
