import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkIds } from '../../src/desired/check-id.ts';
import { desiredState } from '../../src/desired/desired-state.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import { resolveFile } from '../../src/desired/template.ts';
import type { SourceFile } from '../../src/desired/parse-file.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { options } from './load-files.ts';
import { mutatedFile } from './mutated.ts';

const rounds = Number(process.env['YAML_ROUNDS'] ?? 300);
/** Of the processor, for one file. */
const maxMs = 1_000;
/** Of the process, at the end. */
const maxMiB = 1_000;

const mail = 'vars: {mx: a}\nrecords: [{type: MX, content: mx.example.net, priority: 1}]\n';

const fileOf = (path: string, text: string, includes: SourceFile['includes']): SourceFile => {
  const bytes = Buffer.from(text, 'latin1');
  return { path, isFragment: path.startsWith('_'), hash: '', parsed: null, bytes, includes };
};

const stateOf = async (text: string): Promise<DesiredState> => {
  const fragment = fileOf('_mail.yaml', mail, new Map());
  const file = fileOf('a.yaml', text, new Map([['_mail.yaml', fragment]]));
  return desiredState([await resolveFile(file, options)], [], [], false);
};

const checks: ReadonlySet<string> = new Set(checkIds);

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

test(`${rounds} mutated files: no crash, no hang, and every problem has its place`, async () => {
  // Other files of tests have run in this process.
  const before = peak();
  await fc.assert(
    fc.asyncProperty(mutatedFile, async (content) => {
      const start = process.cpuUsage();
      const state = await stateOf(content);
      const { user, system } = process.cpuUsage(start);
      expect(faultsOf(state, (user + system) / 1_000)).toEqual([]);
    }),
    { numRuns: rounds },
  );
  expect(peak() - before).toBeLessThan(maxMiB);
});

const peak = (): number => process.resourceUsage().maxRSS / 1_024;
