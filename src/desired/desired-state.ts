import { plural } from '../lib/plural.ts';
import { isFragmentPath, type DesiredState, type Problem } from '../model/template.ts';
import { canonicalName } from '../model/canonical.ts';
import { withoutFinalDot } from '../model/glob.ts';
import { groupBy } from '../model/group.ts';
import { isError, quote, shownPlace, type Diagnostic } from './problem.ts';
import type { ResolvedFile, ResolvedTemplate } from './template.ts';
import type { Missing } from './parse-file.ts';

/** Sorts what was read into templates that can be used, those that cannot, and all problems. */
export const desiredState = (
  readings: readonly ResolvedFile[],
  missing: readonly Missing[],
  absent: readonly Problem[],
  strict: boolean,
): DesiredState => {
  const own = readings.flatMap(({ path, diagnostics, templates }) =>
    templates.map((one) => ({ path, ofFile: diagnostics, one })),
  );
  const all = own.map(({ one }) => one);
  const [twice, shared] = [describedTwice(all), listedTwice(all)];
  const verdicts = own.map(({ path, ofFile, one }) => {
    const diagnostics = [...one.diagnostics, ...(twice.get(one) ?? []), ...(shared.get(one) ?? [])];
    const errors = [...ofFile, ...diagnostics].filter((diagnostic) => isError(diagnostic, strict));
    const template = errors.length === 0 ? one.template : null;
    const fragments = [...new Set(diagnostics.map(({ file }) => file))];
    const message = countErrors(path, errors);
    const unusable = { file: path, template: one.name, id: one.id, message, fragments };
    return { diagnostics, template, unusable };
  });
  const diagnostics = [...readings, ...verdicts].flatMap((one) => one.diagnostics);
  return {
    templates: verdicts.flatMap(({ template }) => template ?? []),
    unusable: [
      ...missing
        .filter(({ path }) => /\.ya?ml$/.test(path) && !isFragmentPath(path))
        .map((one) => ({ file: one.path, template: null, id: null, message: whyMissing(one) })),
      ...verdicts.flatMap(({ template, unusable }) => (template === null ? unusable : [])),
    ],
    problems: [...absent, ...missing.map(missingProblem), ...problemsOf(diagnostics, strict)].sort(byPlace),
    files: readings.filter(({ isFragment }) => !isFragment).length,
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
): ReadonlyMap<ResolvedTemplate, readonly Diagnostic[]> => {
  const found = new Map<ResolvedTemplate, Diagnostic[]>();
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

const twice = ({ source }: ResolvedTemplate, key: string | number, other: ResolvedTemplate): Diagnostic => {
  const name = typeof key === 'string' ? quote(key) : `with id ${key}`;
  const message = `the template ${name} is described here and at ${shownPlace(other.source)}: keep one of them`;
  return { check: 'template-twice', message, ...source, via: null };
};

/** Subdomains that are listed again, here or in another template: what derives from one template is foreign to the other. */
const listedTwice = (
  templates: readonly ResolvedTemplate[],
): ReadonlyMap<ResolvedTemplate, readonly Diagnostic[]> => {
  const found = new Map<ResolvedTemplate, Diagnostic[]>();
  const entries = templates.flatMap((by) => by.template?.subdomains.map((text) => ({ by, text })) ?? []);
  for (const group of groupBy(entries, ({ text }) => withoutFinalDot(canonicalName(text))).values()) {
    const first = group[0]!;
    const second = group.find(({ by }) => by !== first.by);
    for (const entry of group) {
      const { by, text } = entry;
      const other = by !== first.by || (second === undefined && entry !== first) ? first : second;
      if (other === undefined) continue;
      const message = `${quote(text)} under \`subdomains\` is listed twice, also at ${shownPlace(other.by.source)}: a subdomain follows one template`;
      const diagnostic = { check: 'subdomain-twice', message, ...by.source, via: null } as const;
      found.set(by, [...(found.get(by) ?? []), diagnostic]);
    }
  }
  return found;
};

const countErrors = (path: string, errors: readonly Diagnostic[]): string => {
  const files = new Set([path, ...errors.map(({ file }) => file)]);
  return `${plural(errors.length, 'error')} in ${[...files].join(' and ')}`;
};

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

/** A diagnostic of a fragment that several templates include is one problem, which names the includes. */
const problemsOf = (diagnostics: readonly Diagnostic[], strict: boolean): Problem[] => {
  const groups = groupBy(diagnostics, (one) => JSON.stringify({ ...one, via: null }));
  return [...groups.values()].map((group) => {
    const { check, message, file, line, column } = group[0]!;
    const severity = isError(group[0]!, strict) ? 'error' : 'warning';
    return { severity, check, message: message + includedBy(group), file, line, column };
  });
};

const includedBy = (group: readonly Diagnostic[]): string => {
  const places = new Set(group.flatMap(({ via }) => via ?? []));
  const [first, ...others] = [...places].sort(compare);
  if (first === undefined) return '';
  return ` (included by ${first}${others.length > 0 ? ` and ${others.length} more` : ''})`;
};

/** By file, line and column. */
const byPlace = (one: Problem, other: Problem): number =>
  compare(one.file ?? '', other.file ?? '') ||
  (one.line ?? 0) - (other.line ?? 0) ||
  (one.column ?? 0) - (other.column ?? 0) ||
  compare(one.check, other.check) ||
  compare(one.message, other.message);

const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
