import { plural } from '../lib/plural.ts';
import { shorten } from './columns.ts';
import type { PassResult, UnmanagedTemplate } from '../result.ts';

/** The templates that no file describes, in a sentence; null if there are none. */
export const unmanagedSentence = (
  templates: readonly UnmanagedTemplate[],
  withClient = false,
): string | null => {
  if (templates.length === 0) return null;
  const named = (some: readonly UnmanagedTemplate[]): string => {
    const names = some
      .slice(0, maxNamed)
      .map(({ client, template }) => shorten(withClient ? `${client}: ${template}` : template, maxName));
    return `(${names.join(', ')}${some.length > maxNamed ? ` and ${some.length - maxNamed} more` : ''})`;
  };
  const gone = templates.filter(({ hadFile }) => hadFile);
  const since = `; ${plural(gone.length, 'file')} ${gone.length === 1 ? 'is' : 'are'} gone since ${named(gone)}`;
  const found = `${plural(templates.length, 'template')} at the service ${templates.length === 1 ? 'has' : 'have'} no file`;
  return `${found} ${named(templates)}${gone.length === 0 ? '' : since}; \`import\` writes files for them`;
};

const maxNamed = 10;
/** Columns. */
const maxName = 80;

/** For those to whom a template without a file is an error. */
export const unmanagedProblems = (templates: readonly UnmanagedTemplate[]): PassResult['problems'] => {
  const message = unmanagedSentence(templates);
  if (message === null) return [];
  const place = { client: templates[0]!.client, file: null, line: null, column: null };
  return [{ severity: 'error', check: 'unmanaged', message, ...place }];
};
