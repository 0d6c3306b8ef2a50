import { faultAt, quote } from './fault.ts';
import type { Finding } from './problem.ts';
import type { TemplateDraft } from './template-draft.ts';

/**
 * What is to be told of documents that describe the template of another one: nobody can say which of them holds, so
 * each is told about the other.
 */
export const twiceFindings = (
  drafts: readonly TemplateDraft[],
): ReadonlyMap<TemplateDraft, readonly Finding[]> => {
  const findings = new Map<TemplateDraft, Finding[]>();
  for (const [key, named] of descriptionsOf(drafts)) {
    if (named.length < 2) continue;
    for (const draft of named) {
      const other = named.find((one) => one !== draft && !haveOwnIds(one, draft));
      if (other) findings.set(draft, [...(findings.get(draft) ?? []), findingOf(draft, key, other)]);
    }
  }
  return findings;
};

/** All documents that describe a template, by what they call it: its name, or its id. */
const descriptionsOf = (
  drafts: readonly TemplateDraft[],
): ReadonlyMap<string | number, readonly TemplateDraft[]> => {
  const descriptions = new Map<string | number, TemplateDraft[]>();
  for (const draft of drafts) {
    for (const key of [draft.name, draft.id]) {
      if (key === null) continue;
      const others = descriptions.get(key);
      if (others === undefined) descriptions.set(key, [draft]);
      else others.push(draft);
    }
  }
  return descriptions;
};

/** The service may hold several templates of one name: ids tell them apart. */
const haveOwnIds = (one: TemplateDraft, other: TemplateDraft): boolean =>
  one.id !== null && other.id !== null && one.id !== other.id;

const findingOf = ({ source }: TemplateDraft, key: string | number, other: TemplateDraft): Finding => {
  const place = `${other.source.file}:${other.source.line}:${other.source.column}`;
  const name = typeof key === 'string' ? quote(key) : `with id ${key}`;
  const message = `the template ${name} is described here and at ${place}`;
  return { ...faultAt('template-twice', source, message), file: source.file, via: null };
};
