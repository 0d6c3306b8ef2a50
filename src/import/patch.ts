import { FILE_HEADERS_ONLY, formatPatch, structuredPatch, type StructuredPatchHunk } from 'diff';

/** The change of a file, for `git apply` and `patch -p1`. */
export const patchFor = (file: string, before: string, after: string): string => {
  const options = { context: 3, maxEditLength };
  const found = structuredPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, options);
  if (found) return formatPatch(found, FILE_HEADERS_ONLY);
  const none = structuredPatch(`a/${file}`, `b/${file}`, '', '');
  return formatPatch({ ...none, hunks: [wholeHunk(before, after)] }, FILE_HEADERS_ONLY);
};

/** Changed lines, whose number makes a comparison slow. Beyond it, a patch replaces the whole file. */
const maxEditLength = 4_000;

const wholeHunk = (before: string, after: string): StructuredPatchHunk => {
  const [old = [], made = []] = [before, after].map((text) => text.match(/[^\n]*\n|[^\n]+$/g) ?? []);
  const lines = [...old.map((line) => `-${line}`), ...made.map((line) => `+${line}`)].flatMap((line) =>
    line.endsWith('\n') ? line.slice(0, -1) : [line, '\\ No newline at end of file'],
  );
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: made.length, lines };
};
