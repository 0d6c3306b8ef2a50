import type { Difference } from '../plan/difference.ts';
import type { PassResult, TemplateResult } from '../result.ts';

/**
 * Fills unknown causes from another pass over the same templates. Templates without unknown causes stay the
 * same objects.
 */
export const withObservedCauses = (result: PassResult, observed: PassResult): PassResult => {
  const known = new Map(observed.templates.map((one) => [keyOfTemplate(one), one]));
  const templates = result.templates.map((template) => {
    const other = known.get(keyOfTemplate(template));
    return other ? withCauses(template, other) : template;
  });
  const isSame = templates.every((template, index) => template === result.templates[index]);
  return isSame ? result : { ...result, templates };
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
