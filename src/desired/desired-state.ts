import { plural } from '../lib/plural.ts';
import { isFragmentPath, type DesiredState, type Problem, type UnusableTemplate } from '../model/template.ts';
import { groupBy } from '../model/group.ts';
import { byPlace, inFile, isError, problemsOf, quote, type FileDiagnostic } from './problem.ts';
import type { ResolvedFile, ResolvedTemplate } from './resolve-template.ts';
import type { Missing, SourceFile, SourceFiles } from './source-file.ts';

/** Sorts what was read into templates that can be used, those that cannot, and all problems. */
export const desiredState = (
  { files, missing }: SourceFiles,
  readings: readonly ResolvedFile[],
  absent: readonly Problem[],
  strict: boolean,
): DesiredState => {
  const twice = describedTwice(readings.flatMap(({ templates }) => templates));
  const verdicts = readings.flatMap(({ file, templates }) =>
    templates.map((one) => verdictOn(file, one, [...one.diagnostics, ...(twice.get(one) ?? [])], strict)),
  );
  const diagnostics = [...files.flatMap(ofFile), ...verdicts.flatMap((verdict) => verdict.diagnostics)];
  return {
    templates: verdicts.flatMap(({ template, unusable }) => (unusable ? [] : (template ?? []))),
    unusable: [
      ...missing
        .filter(({ path }) => /\.ya?ml$/.test(path) && !isFragmentPath(path))
        .map((one) => ({ file: one.path, template: null, id: null, message: whyMissing(one) })),
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

/** Documents that describe one template: it is not clear which one applies, so each names the other. */
const describedTwice = (
  templates: readonly ResolvedTemplate[],
): ReadonlyMap<ResolvedTemplate, readonly FileDiagnostic[]> => {
  const found = new Map<ResolvedTemplate, FileDiagnostic[]>();
  const named = [groupBy(templates, ({ name }) => name), groupBy(templates, ({ id }) => id)];
  for (const [key, group] of named.flatMap((groups) => [...groups])) {
    if (key === null || group.length < 2) continue;
    for (const template of group) {
      const other = group.find((one) => one !== template && !haveOwnIds(one, template));
      if (other) found.set(template, [...(found.get(template) ?? []), twice(template, key, other)]);
    }
  }
  return found;
};

/** The service may have several templates of one name, with different ids. */
const haveOwnIds = (one: ResolvedTemplate, other: ResolvedTemplate): boolean =>
  one.id !== null && other.id !== null && one.id !== other.id;

const twice = (
  { source }: ResolvedTemplate,
  key: string | number,
  { source: { file, line, column } }: ResolvedTemplate,
): FileDiagnostic => {
  const name = typeof key === 'string' ? quote(key) : `with id ${key}`;
  const message = `the template ${name} is described here and at ${file}:${line}:${column}`;
  return { check: 'template-twice', message, ...source, via: null };
};

interface Verdict extends Pick<ResolvedTemplate, 'template' | 'diagnostics'> {
  readonly unusable: UnusableTemplate | null;
}

const verdictOn = (
  { path, parsed }: SourceFile,
  { name, id, template }: ResolvedTemplate,
  diagnostics: readonly FileDiagnostic[],
  strict: boolean,
): Verdict => {
  const errors = [...inFile(path, parsed.diagnostics), ...diagnostics].filter((one) => isError(one, strict));
  if (errors.length === 0 && template !== null) return { template, diagnostics, unusable: null };
  const message = countErrors([path, ...errors.map((error) => error.file)], errors.length);
  return { template, diagnostics, unusable: { file: path, template: name, id, message } };
};

/** The diagnostics of a file as a whole. Those of a template's own document come with the template. */
const ofFile = ({ path, isFragment, parsed }: SourceFile): FileDiagnostic[] => [
  ...inFile(path, parsed.diagnostics),
  ...(isFragment ? parsed.documents.flatMap(({ diagnostics }) => inFile(path, diagnostics)) : []),
];

const withoutTemplate = ({ path, parsed }: SourceFile): UnusableTemplate => ({
  file: path,
  template: null,
  id: null,
  message: countErrors([path], parsed.diagnostics.length),
});

const countErrors = (files: readonly string[], count: number): string =>
  `${count === 0 ? 'more errors than are listed' : plural(count, 'error')} in ${[...new Set(files)].join(' and ')}`;

const missingProblem = (missing: Missing): Problem => ({
  severity: 'error',
  check: missing.isOutside ? 'outside' : 'unreadable',
  message: whyMissing(missing),
  file: missing.path,
  line: null,
  column: null,
});

const whyMissing = ({ path, reason, isOutside }: Missing): string =>
  isOutside
    ? `${path} is not read: ${reason}; move its target into them, or add the target's directory to templates`
    : `${path} cannot be read: ${reason}`;
