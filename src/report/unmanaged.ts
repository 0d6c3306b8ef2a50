import { escapeControl } from '../lib/escape-control.ts';
import { plural } from '../lib/plural.ts';
import { shorten } from './columns.ts';
import type { PassResult, Report, UnmanagedTemplate } from '../result.ts';

/** The templates that no file describes, in a sentence; null if there are none. */
const unmanagedSentence = (templates: readonly UnmanagedTemplate[], withClient = false): string | null => {
  if (templates.length === 0) return null;
  const named = (some: readonly UnmanagedTemplate[]): string => {
    const names = some
      .slice(0, maxNamed)
      .map(({ client, template }) => shorten(withClient ? `${client}: ${template}` : template, maxName));
    return `(${names.join(', ')}${some.length > maxNamed ? ` and ${some.length - maxNamed} more` : ''})`;
  };
  const gone = templates.filter(({ hadFile }) => hadFile);
  const have = templates.length === 1 ? 'has' : 'have';
  return [
    `${plural(templates.length, 'template')} at the service ${have} no file ${named(templates)}`,
    ...(gone.length === 0
      ? []
      : [`${plural(gone.length, 'file')} ${gone.length === 1 ? 'is' : 'are'} gone since ${named(gone)}`]),
    '`import` writes files for them',
  ].join('; ');
};

const maxNamed = 10;
/** Columns. */
const maxName = 80;

/** For those to whom a template without a file is an error. */
export const unmanagedProblems = (templates: readonly UnmanagedTemplate[]): PassResult['problems'] => {
  const message = unmanagedSentence(templates);
  const client = templates[0]?.client ?? '';
  const place = { file: null, line: null, column: null };
  return message === null ? [] : [{ severity: 'error', check: 'unmanaged', message, client, ...place }];
};

/** What no file manages, unless it is among the problems, and what the report is without. */
export const asideOf = (
  { base, unmanaged, problems }: Pick<Report, 'base' | 'unmanaged' | 'problems'>,
  withClient: boolean,
): string | null => {
  const isProblem = problems.some(({ check }) => check === 'unmanaged');
  const sentences = [
    isProblem ? null : unmanagedSentence(unmanaged, withClient),
    base === undefined ? null : baseSentence,
  ].filter((sentence) => sentence !== null);
  return sentences.length === 0 ? null : escapeControl(sentences.join('. '));
};

const baseSentence =
  'Compared as if the files of the base branch had been applied: what only the daemon knows (failures, suspensions, losses, records dropped before) is not in it';
