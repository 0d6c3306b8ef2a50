import { sameElements } from '../lib/same-elements.ts';
import type { Difference } from '../plan/difference.ts';
import type { PassResult, TemplateResult } from '../result.ts';

/**
 * Fills unknown causes from another pass over the same templates. What has not changed since the last call, on either
 * side, gives the same objects.
 */
export const observedCauses = (): ((result: PassResult, observed: PassResult) => PassResult) => {
  let before: readonly TemplateResult[] = [];
  const filled = new WeakMap<TemplateResult, { readonly by: TemplateResult; readonly as: TemplateResult }>();
  const fill = (template: TemplateResult, by: TemplateResult): TemplateResult => {
    const last = filled.get(template);
    if (last?.by === by) return last.as;
    const as = withCauses(template, by);
    filled.set(template, { by, as });
    return as;
  };
  return (result, observed) => {
    const known = new Map(observed.templates.map((one) => [keyOfTemplate(one), one]));
    const templates = result.templates.map((template) => {
      const other = known.get(keyOfTemplate(template));
      return other ? fill(template, other) : template;
    });
    if (!sameElements(templates, before)) before = templates;
    return { ...result, templates: before };
  };
};

const withCauses = (template: TemplateResult, observed: TemplateResult): TemplateResult => {
  const causes = new Map(
    observed.differences.flatMap((one) => ('cause' in one ? [[keyOf(one), one.cause] as const] : [])),
  );
  const differences = template.differences.map((one) => {
    const cause = 'cause' in one && one.cause === 'unknown' ? causes.get(keyOf(one)) : undefined;
    return cause === undefined || cause === 'unknown' ? one : { ...one, cause };
  });
  const isSame = differences.every((one, index) => one === template.differences[index]);
  return isSame ? template : { ...template, differences };
};

const keyOfTemplate = ({ template, file, id }: TemplateResult): string => `${template}\n${file}\n${id}`;

/** Identifies a difference by its line in a file or by its record. */
const keyOf = (difference: Difference): string =>
  'source' in difference
    ? `${difference.source.file}:${difference.source.line}:${difference.source.column}:${JSON.stringify(difference.desired)}`
    : `#${difference.recordId}`;
