import { basename } from 'node:path';
import { plural } from '../lib/plural.ts';
import type { DesiredState, Problem, UnusableTemplate } from '../model/template.ts';
import { twiceFindings } from './described-twice.ts';
import type { FileDrafts } from './file-drafts.ts';
import type { Missing } from './find.ts';
import { atFile, byPlace, isError, problemsOf, type Finding } from './problem.ts';
import type { Snapshot, SourceFile } from './snapshot.ts';
import type { TemplateDraft } from './template-draft.ts';

/** Sorts what was read into templates that can be used, those that cannot, and all problems. */
export const desiredState = (
  { files, missing }: Pick<Snapshot, 'files' | 'missing'>,
  readings: readonly FileDrafts[],
  absent: readonly Problem[],
  strict: boolean,
): DesiredState => {
  const twice = twiceFindings(readings.flatMap(({ drafts }) => drafts));
  const verdicts = readings.flatMap(({ file, drafts }) =>
    drafts.map((draft) => verdictOn(file, draft, twice.get(draft) ?? none, strict)),
  );
  const findings = [...files.flatMap(ownFindings), ...verdicts.flatMap((verdict) => verdict.findings)];
  return {
    templates: verdicts.flatMap(({ draft, unusable }) => (unusable === null ? (draft.template ?? []) : [])),
    unusable: [
      ...missing.filter(isTemplateFile).map(unreadable),
      ...readings.filter(({ drafts }) => drafts.length === 0).map(({ file }) => wordless(file)),
      ...verdicts.flatMap(({ unusable }) => unusable ?? []),
    ],
    problems: [...absent, ...missing.map(missingProblem), ...problemsOf(findings, strict)].sort(byPlace),
    files: readings.length,
  };
};

/** A path misspelled, a volume not mounted: to be in sync with nothing is hardly ever what is meant. */
export const noTemplates = (paths: readonly string[]): Problem => ({
  severity: 'error',
  check: 'no-templates',
  message: `no template files (*.yaml, *.yml) in ${paths.join(', ')}; --allow-empty if there may be none`,
  file: paths.length === 1 ? paths[0]! : null,
  line: null,
  column: null,
});

interface DescriptionVerdict {
  readonly draft: TemplateDraft;
  readonly findings: readonly Finding[];
  readonly unusable: UnusableTemplate | null;
}

const verdictOn = (
  file: SourceFile,
  draft: TemplateDraft,
  twice: readonly Finding[],
  strict: boolean,
): DescriptionVerdict => {
  const { name, id, template } = draft;
  const isFlawless = file.outline.faults.length + draft.findings.length + twice.length === 0;
  if (isFlawless && template !== null) return { draft, findings: none, unusable: null };
  const findings = [...draft.findings, ...twice];
  const errors = [...atFile(file.path, file.outline.faults), ...findings].filter((finding) =>
    isError(finding, strict),
  );
  if (errors.length === 0 && template !== null) return { draft, findings, unusable: null };
  const message = countErrors([file.path, ...errors.map((error) => error.file)], errors.length);
  return { draft, findings, unusable: { file: file.path, template: name, id, message } };
};

const none: readonly never[] = [];

/** What is wrong with a file by itself; a template's own document tells its faults with the template. */
const ownFindings = ({ path, isFragment, outline }: SourceFile): Finding[] => [
  ...atFile(path, outline.faults),
  ...(isFragment ? outline.documents.flatMap(({ faults }) => atFile(path, faults)) : []),
];

/** A file in which not one template was found. */
const wordless = ({ path, outline }: SourceFile): UnusableTemplate => ({
  file: path,
  template: null,
  id: null,
  message: countErrors([path], outline.faults.length),
});

const countErrors = (files: readonly string[], count: number): string =>
  `${count === 0 ? 'more errors than are listed' : plural(count, 'error')} in ${[...new Set(files)].join(' and ')}`;

const unreadable = (missing: Missing): UnusableTemplate => ({
  file: missing.path,
  template: null,
  id: null,
  message: missingMessage(missing),
});

const isTemplateFile = ({ path }: Missing): boolean =>
  /\.ya?ml$/.test(path) && !basename(path).startsWith('_');

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
    ? `${path} is not read: ${reason}; put what it leads to there, or give its directory as templates too`
    : `${path} cannot be read: ${reason}`;
