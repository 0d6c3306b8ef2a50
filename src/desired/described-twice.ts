import { faultAt, quote } from './fault.ts';
import type { Finding } from './problem.ts';
import type { TemplateDraft } from './template-draft.ts';

/** All documents that describe a template, by what they call it. */
export type Descriptions = ReadonlyMap<string, readonly TemplateDraft[]>;

export const descriptionsOf = (drafts: readonly TemplateDraft[]): Descriptions => {
  const descriptions = new Map<string, TemplateDraft[]>();
  for (const draft of drafts) {
    for (const { key } of namesOf(draft)) {
      const others = descriptions.get(key);
      if (others === undefined) descriptions.set(key, [draft]);
      else others.push(draft);
    }
  }
  return descriptions;
};

/** Nobody can say which of two descriptions holds, so each of them is told about the other. */
export const twiceFindings = (draft: TemplateDraft, descriptions: Descriptions): Finding[] =>
  namesOf(draft).flatMap(({ key, name }) => {
    const other = descriptions.get(key)?.find((one) => one !== draft && !haveOwnIds(one, draft));
    if (other === undefined) return [];
    const place = `${other.source.file}:${other.source.line}:${other.source.column}`;
    const message = `the template ${name} is described here and at ${place}`;
    const { source } = draft;
    return [{ ...faultAt('template-twice', source, message), file: source.file, via: null }];
  });

/** The service may hold several templates of one name: ids tell them apart. */
const haveOwnIds = (one: TemplateDraft, other: TemplateDraft): boolean =>
  one.id !== null && other.id !== null && one.id !== other.id;

const namesOf = ({ name, id }: TemplateDraft): { key: string; name: string }[] => [
  ...(name === null ? [] : [{ key: `name ${name}`, name: quote(name) }]),
  ...(id === null ? [] : [{ key: `id ${id}`, name: `with id ${id}` }]),
];
