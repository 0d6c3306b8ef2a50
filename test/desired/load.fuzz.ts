import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { errorChecks, warningChecks, type CheckId } from '../../src/desired/check-id.ts';
import { createTemplateLoader } from '../../src/desired/load.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { directoryWith, options } from './load-files.ts';

const files = 20_000;
const longest = 1_000;

const corpus = join(import.meta.dirname, '../fixtures/bad');
const seeds = [
  'template: web\nid: 17\nttl: 1h\nmode: edits\nsurplus: park\nadopt: true\nlimits: {maxAdds: 3}\nvars: {web: 192.0.2.1}\ninclude: [_mail.yaml]\nignore:\n  - {type: TXT, name: "_acme*"}\nrecords:\n  - {type: A, name: www, content: ["${web}", 192.0.2.2], ttl: 5m}\n  - type: SRV\n    name: _sip._tcp\n    priority: 10\n    weight: 5\n    port: 5060\n    target: sip.example.net\n',
  ...readdirSync(corpus)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => readFileSync(join(corpus, name), 'latin1'))
    .filter((content) => content.length < 20_000),
];

const words = [
  ...Array.from('\0\t\n\r "\'#%&*,-:<>?@[]`{}|!~$\u00ff\u00fe\u00bf'),
  ...'&a ,*a,<<: ,!!str ,!x ,${,$${,${web},? ,: ,- ,null,true,.inf,0x1f,"\\uD800",[[[[,{{{{'.split(','),
  '\n---\n',
  '\n...\n',
  '%YAML 1.1\n',
  '\n  ',
  '|\n',
  '>-\n',
  '\r\n',
  // In UTF-8: a byte order mark, a line separator.
  '\u00ef\u00bb\u00bf',
  '\u00e2\u0080\u00a8',
];

/** What may happen to a file. Places are fractions of its length. */
const mutation = fc.oneof(
  fc.record({
    do: fc.constant('insert' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.constantFrom(...words),
    times: fc.constantFrom(1, 1, 1, 2, 100),
  }),
  fc.record({
    do: fc.constant('remove' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(30),
  }),
  fc.record({
    do: fc.constant('repeat' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(60),
    times: fc.constantFrom(1, 2, 50),
  }),
  fc.record({
    do: fc.constant('splice' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    other: fc.nat(seeds.length - 1),
  }),
  fc.record({
    do: fc.constant('octet' as const),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    octet: fc.nat(255),
  }),
);
type Mutation = typeof mutation extends fc.Arbitrary<infer Value> ? Value : never;

const mutate = (content: string, change: Mutation): string => {
  const at = Math.floor(change.at * content.length);
  const [before, after] = [content.slice(0, at), content.slice(at)];
  switch (change.do) {
    case 'insert':
      return before + change.text.repeat(change.times) + after;
    case 'remove':
      return before + after.slice(change.length);
    case 'repeat':
      return before + after.slice(0, change.length).repeat(change.times) + after;
    case 'splice':
      return before + seeds[change.other]!.slice(Math.floor(change.at * seeds[change.other]!.length));
    case 'octet':
      return before + String.fromCharCode(change.octet) + after.slice(1);
  }
};

const checks: ReadonlySet<string> = new Set<CheckId>([...errorChecks, ...warningChecks]);

const faultsOf = (state: DesiredState, milliseconds: number): string[] => {
  const lines = state.problems.map(formatProblem);
  const withoutPlace = state.problems.filter(
    ({ line, column }) => !(Number(line) >= 1 && Number(column) >= 1),
  );
  const hasError = state.problems.some(({ severity }) => severity === 'error');
  return [
    ...(milliseconds > longest ? [`it took ${Math.round(milliseconds)} ms`] : []),
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
    fc.asyncProperty(
      fc.constantFrom(...seeds),
      fc.array(mutation, { minLength: 1, maxLength: 8 }),
      async (seed, changes) => {
        const content = changes.reduce(mutate, seed).slice(0, 500_000);
        await writeFile(path, content, 'latin1');
        const start = performance.now();
        const state = await createTemplateLoader().load({ ...options, paths: [path] });
        expect(faultsOf(state, performance.now() - start)).toEqual([]);
      },
    ),
    { numRuns: files },
  );
});
