import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorChecks, warningChecks } from '../../src/desired/check-id.ts';
import { createTemplateLoader } from '../../src/source/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import { options } from './load-files.ts';

const corpus = join(import.meta.dirname, '../fixtures/bad');
const names = readdirSync(corpus)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length));

const expectedOf = (name: string): string[] =>
  readFileSync(join(corpus, `${name}.expected`), 'utf8')
    .trimEnd()
    .split('\n');

describe('each bad file gets exactly its problems', () => {
  test.for(names)('%s', async (name) => {
    const state = await createTemplateLoader().load({ ...options, paths: [join(corpus, `${name}.yaml`)] });
    const lines = state.problems.map((problem) => formatProblem(problem).replaceAll(`${corpus}/`, ''));
    expect(lines).toEqual(expectedOf(name));
    const hasError = state.problems.some(({ severity }) => severity === 'error');
    expect(state.unusable.length > 0).toBe(hasError);
    expect(state.problems.every(({ line, column }) => Number(line) >= 1 && Number(column) >= 1)).toBe(true);
  });
});

test('every check has a bad file with its name', () => {
  const topics = new Set(names.map((name) => name.replace(/-\d+$/, '')));
  // What is not read is no matter of content.
  const unread: ReadonlySet<string> = new Set(['no-templates', 'unreadable', 'outside']);
  const checks = [...errorChecks, ...warningChecks].filter((check) => !unread.has(check));
  expect(checks.filter((check) => !topics.has(check))).toEqual([]);
  expect(names.length).toBeGreaterThanOrEqual(120);
});

test('a file with twenty different mistakes gets all of them in one run', () => {
  const checks = expectedOf('twenty-mistakes').map((line) => /\[([a-z0-9-]+)\]$/.exec(line)?.[1]);
  expect(checks.length).toBeGreaterThanOrEqual(20);
  expect(new Set(checks).size).toBeGreaterThanOrEqual(18);
});
