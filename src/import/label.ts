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
  const inOrder = templates.toSorted((a, b) => a.id - b.id);
  const names = countOf(inOrder.map(nameOf));
  const stems = countOf(inOrder.map(stemOf));
  const taken = new Set([...stems].flatMap(([stem, times]) => (times === 1 ? [stem] : [])));
  return new Map(
    inOrder.map((template) => {
      const name = nameOf(template);
      const isClear = name === template.name && names.get(name) === 1;
      const stem = stemOf(template);
      const ownStem = stems.get(stem) === 1 ? stem : freeStem(`${stem}-${template.id}`, taken);
      taken.add(ownStem);
      return [template, { name, id: isClear ? null : template.id, fileName: `${ownStem}.yaml` }];
    }),
  );
};

/** A file needs a name, in readable characters. */
const nameOf = ({ name, id }: ActualTemplate): string =>
  name === '' || unreadable.test(name) ? nameById(id) : name;

const unreadable = /\p{Cc}|\p{Cs}/u;

/** A file name that is safe on every file system, visible to the loader, and never in another directory. */
const stemOf = (template: ActualTemplate): string => {
  const stem = nameOf(template)
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .slice(0, maxStem)
    .replaceAll(/^[._-]+|[._-]+$/g, '');
  return stem === '' || isDevice.test(stem) ? nameById(template.id) : stem;
};

const maxStem = 100;

/** Windows takes these for devices, whatever their extension. */
const isDevice = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/;

const freeStem = (stem: string, taken: ReadonlySet<string>): string =>
  taken.has(stem) ? freeStem(`${stem}-`, taken) : stem;

const countOf = (texts: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
};
