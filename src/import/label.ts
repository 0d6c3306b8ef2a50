import { groupBy } from '../model/group.ts';
import { nameById, type ActualTemplate } from '../model/template.ts';

/** How a file names a template of the service. */
export interface Label {
  readonly name: string;
  /** Null if the name is unique. */
  readonly id: number | null;
  readonly fileName: string;
}

/** For all templates of a client together, so that file names are unique and each file means one template. */
export const labelsOf = (templates: readonly ActualTemplate[]): ReadonlyMap<ActualTemplate, Label> => {
  const names = groupBy(templates, nameOf);
  const stems = groupBy(templates, stemOf);
  return new Map(
    templates
      .toSorted((a, b) => a.id - b.id)
      .map((template) => {
        const [name, stem] = [nameOf(template), stemOf(template)];
        const isClear = name === template.name && names.get(name)!.length === 1;
        // No other name has an `@`.
        const fileName = stems.get(stem)!.length === 1 ? `${stem}.yaml` : `${stem}@${template.id}.yaml`;
        return [template, { name, id: isClear ? null : template.id, fileName }];
      }),
  );
};

/** A file needs a name, in readable characters. */
const nameOf = ({ name, id }: ActualTemplate): string =>
  name === '' || /\p{Cc}|\p{Cs}/u.test(name) ? nameById(id) : name;

/** A file name that is safe on every file system, visible to the loader, and never in another directory. */
const stemOf = (template: ActualTemplate): string => {
  const stem = nameOf(template)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, 100)
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return stem || nameById(template.id);
};
