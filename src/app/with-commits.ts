import type { Commit, PassResult } from '../result.ts';
import type { TemplateSource } from '../source/template-source.ts';
import type { DesiredState } from '../model/template.ts';

export interface CommitOptions extends Pick<TemplateSource, 'readCommit'> {
  /** With `{sha}` in place of an id. */
  readonly commitUrl: string | null;
}

/** Adds the commits of its templates' files to a result. Commits do not change, so each is read once. */
export const commitReader = (options: CommitOptions): ((result: PassResult) => PassResult) => {
  let known = new Map<string, Commit>();
  return (result) => {
    const found = new Map<string, Commit>();
    for (const { revision, file } of result.templates) {
      if (revision === null || found.has(revision)) continue;
      found.set(revision, known.get(revision) ?? commitOf(revision, file, options));
    }
    if (found.size === 0) return result;
    known = found;
    return { ...result, commits: [...found.values()] };
  };
};

const commitOf = (revision: string, file: string, { readCommit, commitUrl }: CommitOptions): Commit => ({
  revision,
  ...(readCommit(file, revision) ?? { author: null, subject: null }),
  url: commitUrl?.replace('{sha}', encodeURIComponent(revision)) ?? null,
});

/** Marks templates of which a file or a fragment differs from its commit. Without any, returns the same object. */
export const withUncommitted = (
  result: PassResult,
  { templates: desired }: Pick<DesiredState, 'templates'>,
  isUncommitted: (file: string) => boolean,
): PassResult => {
  const fragments = new Map(desired.map(({ template, fragments: included = [] }) => [template, included]));
  let hasAny = false;
  const templates = result.templates.map((one) => {
    const files = [one.file, ...(fragments.get(one.template) ?? [])];
    if (one.revision === null || !files.some(isUncommitted)) return one;
    hasAny = true;
    return { ...one, uncommitted: true } as const;
  });
  return hasAny ? { ...result, templates } : result;
};
