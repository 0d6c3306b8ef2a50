import type { Missing, SourceFile, SourceFiles } from './source-file.ts';
import { plural } from '../lib/plural.ts';
import { isFragmentPath, type DesiredState, type Problem, type UnusableTemplate } from '../model/template.ts';
import { describedTwice } from './described-twice.ts';
import type { ResolvedFile } from './resolve-file.ts';
import { inFile, byPlace, isError, problemsOf, type FileDiagnostic } from './problem.ts';
import type { ResolvedTemplate } from './resolve-template.ts';

/** Sorts what was read into templates that can be used, those that cannot, and all problems. */
export const desiredState = (
  { files, missing }: SourceFiles,
  readings: readonly ResolvedFile[],
  absent: readonly Problem[],
  strict: boolean,
): DesiredState => {
  const twice = describedTwice(readings.flatMap(({ templates }) => templates));
  const verdicts = readings.flatMap(({ file, templates }) =>
    templates.map((resolved) => verdictOn(file, resolved, twice.get(resolved) ?? none, strict)),
  );
  const diagnostics = [
    ...files.flatMap(fileDiagnostics),
    ...verdicts.flatMap((verdict) => verdict.diagnostics),
  ];
  return {
    templates: verdicts.flatMap(({ resolved, unusable }) =>
      unusable === null ? (resolved.template ?? []) : [],
    ),
    unusable: [
      ...missing.filter(isTemplateFile).map(unreadable),
      ...readings.filter(({ templates }) => templates.length === 0).map(({ file }) => withoutTemplate(file)),
      ...verdicts.flatMap(({ unusable }) => unusable ?? []),
    ],
    problems: [...absent, ...missing.map(missingProblem), ...problemsOf(diagnostics, strict)].sort(byPlace),
    files: readings.length,
    usedVariables: new Set(readings.flatMap((one) => [...one.usedVariables])),
  };
};

/** A misspelled path, or a volume that is not mounted: an empty set of files is probably a mistake. */
export const noTemplates = (paths: readonly string[]): Problem => ({
  severity: 'error',
  check: 'no-templates',
  message: `no template files (*.yaml, *.yml) in ${paths.join(', ')}: \`import\` writes them from the service; --allow-empty if there may be none`,
  file: paths.length === 1 ? paths[0]! : null,
  line: null,
  column: null,
});

interface DescriptionVerdict {
  readonly resolved: ResolvedTemplate;
  readonly diagnostics: readonly FileDiagnostic[];
  readonly unusable: UnusableTemplate | null;
}

const verdictOn = (
  file: SourceFile,
  resolved: ResolvedTemplate,
  twice: readonly FileDiagnostic[],
  strict: boolean,
): DescriptionVerdict => {
  const { name, id, template } = resolved;
  const isFlawless = file.parsed.diagnostics.length + resolved.diagnostics.length + twice.length === 0;
  if (isFlawless && template !== null) return { resolved, diagnostics: none, unusable: null };
  const diagnostics = [...resolved.diagnostics, ...twice];
  const errors = [...inFile(file.path, file.parsed.diagnostics), ...diagnostics].filter((diagnostic) =>
    isError(diagnostic, strict),
  );
  if (errors.length === 0 && template !== null) return { resolved, diagnostics, unusable: null };
  const message = countErrors([file.path, ...errors.map((error) => error.file)], errors.length);
  return { resolved, diagnostics, unusable: { file: file.path, template: name, id, message } };
};

const none: readonly never[] = [];

/** The diagnostics of a file as a whole. Those of a template's own document come with the template. */
const fileDiagnostics = ({ path, isFragment, parsed }: SourceFile): FileDiagnostic[] => [
  ...inFile(path, parsed.diagnostics),
  ...(isFragment ? parsed.documents.flatMap(({ diagnostics }) => inFile(path, diagnostics)) : []),
];

/** A file without any template. */
const withoutTemplate = ({ path, parsed }: SourceFile): UnusableTemplate => ({
  file: path,
  template: null,
  id: null,
  message: countErrors([path], parsed.diagnostics.length),
});

const countErrors = (files: readonly string[], count: number): string =>
  `${count === 0 ? 'more errors than are listed' : plural(count, 'error')} in ${[...new Set(files)].join(' and ')}`;

const unreadable = (missing: Missing): UnusableTemplate => ({
  file: missing.path,
  template: null,
  id: null,
  message: missingMessage(missing),
});

const isTemplateFile = ({ path }: Missing): boolean => /\.ya?ml$/.test(path) && !isFragmentPath(path);

const missingProblem = (missing: Missing): Problem => ({
  severity: 'error',
  check: missing.isOutside ? 'outside' : 'unreadable',
  message: missingMessage(missing),
  file: missing.path,
  line: null,
  column: null,
});

const missingMessage = ({ path, reason, isOutside }: Missing): string =>
  isOutside
    ? `${path} is not read: ${reason}; move its target into them, or add the target's directory to templates`
    : `${path} cannot be read: ${reason}`;
