import { pushTo } from '../plan/group.ts';
import { diagnosticAt, quote } from './diagnostic.ts';
import type { FileDiagnostic } from './problem.ts';
import type { ResolvedTemplate } from './resolve-template.ts';

/**
 * Diagnostics for documents that describe the same template. It is not clear which one applies, so each names
 * the other.
 */
export const describedTwice = (
  templates: readonly ResolvedTemplate[],
): ReadonlyMap<ResolvedTemplate, readonly FileDiagnostic[]> => {
  const diagnostics = new Map<ResolvedTemplate, FileDiagnostic[]>();
  for (const [key, named] of descriptionsOf(templates)) {
    if (named.length < 2) continue;
    for (const template of named) {
      const other = named.find((one) => one !== template && !haveOwnIds(one, template));
      if (other)
        diagnostics.set(template, [...(diagnostics.get(template) ?? []), diagnosticOf(template, key, other)]);
    }
  }
  return diagnostics;
};

/** All documents that describe a template, by name and by id. */
const descriptionsOf = (
  templates: readonly ResolvedTemplate[],
): ReadonlyMap<string | number, readonly ResolvedTemplate[]> => {
  const descriptions = new Map<string | number, ResolvedTemplate[]>();
  for (const template of templates) {
    for (const key of [template.name, template.id]) {
      if (key !== null) pushTo(descriptions, key, template);
    }
  }
  return descriptions;
};

/** The service may have several templates of one name, with different ids. */
const haveOwnIds = (one: ResolvedTemplate, other: ResolvedTemplate): boolean =>
  one.id !== null && other.id !== null && one.id !== other.id;

const diagnosticOf = (
  { source }: ResolvedTemplate,
  key: string | number,
  other: ResolvedTemplate,
): FileDiagnostic => {
  const place = `${other.source.file}:${other.source.line}:${other.source.column}`;
  const name = typeof key === 'string' ? quote(key) : `with id ${key}`;
  const message = `the template ${name} is described here and at ${place}`;
  return { ...diagnosticAt('template-twice', source, message), file: source.file, via: null };
};
