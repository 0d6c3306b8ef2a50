import type { PassResult } from '../result.ts';

/** Adds the commits of its templates' files to a result. `commitUrl`: with `{sha}` in place of an id. */
export const withCommits = (result: PassResult, commitUrl: string | null): PassResult => {
  if (commitUrl === null) return result;
  const revisions = new Set(result.templates.flatMap(({ revision }) => revision ?? []));
  const commits = [...revisions].map((revision) => ({
    revision,
    url: commitUrl.replace('{sha}', encodeURIComponent(revision)),
  }));
  return commits.length === 0 ? result : { ...result, commits };
};
