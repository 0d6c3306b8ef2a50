import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorChecks, warningChecks, type CheckId } from '../../src/desired/check-id.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { directoryWith, options } from './load-files.ts';
import { mutatedFile } from './mutated.ts';

const files = 20_000;
const maxMs = 1_000;

const checks: ReadonlySet<string> = new Set<CheckId>([...errorChecks, ...warningChecks]);

const faultsOf = (state: DesiredState, milliseconds: number): string[] => {
  const lines = state.problems.map(formatProblem);
  const withoutPlace = state.problems.filter(
    ({ line, column }) => !(Number(line) >= 1 && Number(column) >= 1),
  );
  const hasError = state.problems.some(({ severity }) => severity === 'error');
  return [
    ...(milliseconds > maxMs ? [`it took ${Math.round(milliseconds)} ms`] : []),
    ...withoutPlace.map((problem) => `no place: ${formatProblem(problem)}`),
    ...lines.filter((line) => line.includes('\n')).map((line) => `several lines: ${line}`),
    ...state.problems.filter(({ check }) => !checks.has(check)).map(({ check }) => `unknown check ${check}`),
    ...(hasError === state.unusable.length > 0 ? [] : ['errors and unusable templates do not agree']),
  ];
};

test(`${files} mutated files: no crash, no hang, and every problem has its place`, async () => {
  const directory = await directoryWith({
    '_mail.yaml': 'vars: {mx: a}\nrecords: [{type: MX, content: mx.example.net, priority: 1}]\n',
  });
  const path = join(directory, 'a.yaml');
  await fc.assert(
    fc.asyncProperty(mutatedFile, async (content) => {
      await writeFile(path, content, 'latin1');
      const start = performance.now();
      const state = await createTemplateLoader().load({ ...options, paths: [path] });
      expect(faultsOf(state, performance.now() - start)).toEqual([]);
    }),
    { numRuns: files },
  );
});
