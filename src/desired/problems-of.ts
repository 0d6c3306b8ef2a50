import path from 'node:path';
import type { DesiredState, Problem } from '../model/template.ts';

/** The problems of the files of these templates, or of all files if none is named. */
export const problemsOf = (
  { templates, unusable, problems }: DesiredState,
  names: readonly string[],
): readonly Problem[] => {
  if (names.length === 0) return problems;
  const isNamed = ({ template }: { readonly template: string | null }): boolean =>
    template !== null && names.includes(template);
  const broken = unusable.filter(isNamed);
  const files = new Set([
    ...broken.map(({ file }) => file),
    ...templates
      .filter(isNamed)
      .flatMap(({ source, records }) => [source.file, ...records.map((record) => record.source.file)]),
  ]);
  // The fragments of an invalid file are not known here: any of them may have the error.
  const concerns = (file: string): boolean =>
    files.has(file) || (broken.length > 0 && path.basename(file).startsWith('_'));
  return problems.filter(({ file }) => file !== null && concerns(file));
};
