import type { DesiredState, DesiredTemplate } from '../model/template.ts';
import type { FileDrafts } from './file-drafts.ts';
import type { SourceFile } from './snapshot.ts';
import type { TemplateDraft } from './template-draft.ts';

/*
 * What a thread made of files, as a text: that is read in a fraction of the time that its objects would take to be
 * copied. Records are lists, and name their file by its place in the list of the template's files.
 */

type PackedRecord = readonly [...WithoutSource, file: number, line: number, column: number];
type WithoutSource = readonly [
  type: DesiredTemplate['records'][number]['type'],
  name: string | null,
  content: string,
  priority: number | null,
  ttl: number | null,
];

interface PackedTemplate extends Omit<DesiredTemplate, 'records'> {
  readonly files: readonly string[];
  readonly records: readonly PackedRecord[];
}

interface PackedDraft extends Omit<TemplateDraft, 'template'> {
  readonly template: PackedTemplate | null;
}

interface PackedFile extends Pick<SourceFile['outline'], 'faults'> {
  readonly drafts: readonly PackedDraft[];
}

export const pack = (files: readonly FileDrafts[]): string => JSON.stringify(files.map(packFile));

const packFile = ({ file, drafts }: FileDrafts): PackedFile => ({
  faults: file.outline.faults,
  drafts: drafts.map((draft) => ({ ...draft, template: draft.template && packTemplate(draft.template) })),
});

const packTemplate = ({ records, ...template }: DesiredTemplate): PackedTemplate => {
  const files = new Map<string, number>();
  const numberOf = (file: string): number => {
    const number = files.get(file) ?? files.size;
    files.set(file, number);
    return number;
  };
  const packed = records.map(({ type, name, content, priority, ttl, source }): PackedRecord => [
    type,
    name,
    content,
    priority,
    ttl,
    numberOf(source.file),
    source.line,
    source.column,
  ]);
  return { ...template, files: [...files.keys()], records: packed };
};

/** `files` are those that were packed, as they were before. */
export const unpack = (text: string, files: readonly SourceFile[]): FileDrafts[] => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `pack` made
  const packed = JSON.parse(text) as readonly PackedFile[];
  return packed.map(({ faults, drafts }, index) => {
    const { bytes: _, ...file } = files[index]!;
    return {
      file: { ...file, outline: { documents: [], faults } },
      drafts: drafts.map(({ template, ...draft }) => ({
        ...draft,
        template: template && unpackTemplate(template),
      })),
    };
  });
};

const unpackTemplate = ({ files, records, ...template }: PackedTemplate): DesiredTemplate => ({
  ...template,
  records: records.map(([type, name, content, priority, ttl, file, line, column]) => ({
    type,
    name,
    content,
    priority,
    ttl,
    source: { file: files[file]!, line, column },
  })),
});

/** Each template is a text of its own, or its place in the state before, in which it was the same. */
export interface PackedState {
  readonly templates: readonly (string | number)[];
  /** All else. */
  readonly rest: string;
}

export const packState = (state: DesiredState, before: DesiredState | null): PackedState => {
  const { templates, ...rest } = state;
  const places = new Map(before?.templates.map((template, place) => [template, place]));
  return {
    templates: templates.map((one) => places.get(one) ?? JSON.stringify(packTemplate(one))),
    rest: JSON.stringify(rest),
  };
};

/** What `packState` made, a text at a time, with `pause` between them. */
export const unpackState = async (
  { templates, rest }: PackedState,
  before: DesiredState | null,
  pause: () => Promise<void>,
): Promise<DesiredState> => {
  const unpacked: DesiredTemplate[] = [];
  for (const one of templates) {
    if (typeof one === 'number') {
      unpacked.push(before!.templates[one]!);
    } else {
      await pause();
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `packState` made
      unpacked.push(unpackTemplate(JSON.parse(one) as PackedTemplate));
    }
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what `packState` made
  return { ...(JSON.parse(rest) as Omit<DesiredState, 'templates'>), templates: unpacked };
};
