import type { PassResult } from '../result.ts';

/** Marks templates whose file differs from its commit. Without any, returns the same object. */
export const withUncommitted = (result: PassResult, isUncommitted: (file: string) => boolean): PassResult => {
  const files = new Set(
    result.templates.flatMap(({ file, revision }) =>
      revision !== null && isUncommitted(file) ? [file] : [],
    ),
  );
  if (files.size === 0) return result;
  const templates = result.templates.map((one) =>
    files.has(one.file) ? ({ ...one, uncommitted: true } as const) : one,
  );
  return { ...result, templates };
};
