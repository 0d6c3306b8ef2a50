import type { DesiredTemplate } from '../model/template.ts';
import type { FileDrafts } from './file-drafts.ts';
import type { SourceFile } from './snapshot.ts';
import type { TemplateDraft } from './template-draft.ts';

/*
 * What a thread made of files, as a text: that is read in a fraction of the time that its objects would take to be
 * copied. Records are lists, and the file's path, which each of them names, stands nowhere.
 */

type PackedRecord = readonly [...WithoutSource, line: number, column: number];
type WithoutSource = readonly [
  type: DesiredTemplate['records'][number]['type'],
  name: string | null,
  content: string,
  priority: number | null,
  ttl: number | null,
];

interface PackedDraft extends Omit<TemplateDraft, 'template'> {
  readonly template:
    | (Omit<DesiredTemplate, 'records'> & { readonly records: readonly PackedRecord[] })
    | null;
}

interface PackedFile extends Pick<SourceFile['outline'], 'faults'> {
  readonly drafts: readonly PackedDraft[];
}

export const pack = (files: readonly FileDrafts[]): string => JSON.stringify(files.map(packFile));

const packFile = ({ file, drafts }: FileDrafts): PackedFile => ({
  faults: file.outline.faults,
  drafts: drafts.map(({ template, ...draft }) => ({
    ...draft,
    template: template && { ...template, records: template.records.map(packRecord) },
  })),
});

const packRecord = ({
  type,
  name,
  content,
  priority,
  ttl,
  source,
}: DesiredTemplate['records'][number]): PackedRecord => [
  type,
  name,
  content,
  priority,
  ttl,
  source.line,
  source.column,
];

/** `files` are those that were packed, as they were before. */
export const unpack = (text: string, files: readonly SourceFile[]): FileDrafts[] => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `pack` made
  const packed = JSON.parse(text) as readonly PackedFile[];
  return packed.map(({ faults, drafts }, index) => {
    const { bytes: _, ...file } = files[index]!;
    return {
      file: { ...file, outline: { documents: [], faults } },
      drafts: drafts.map((draft) => unpackDraft(draft, file.path)),
    };
  });
};

const unpackDraft = ({ template, ...draft }: PackedDraft, file: string): TemplateDraft => ({
  ...draft,
  template: template && {
    ...template,
    records: template.records.map(([type, name, content, priority, ttl, line, column]) => ({
      type,
      name,
      content,
      priority,
      ttl,
      source: { file, line, column },
    })),
  },
});
