import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkIds } from '../../src/desired/check-id.ts';
import { desiredState } from '../../src/desired/desired-state.ts';
import { formatProblem } from '../../src/desired/problem.ts';
import { resolveFile } from '../../src/desired/template.ts';
import type { SourceFile } from '../../src/desired/parse-file.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { badFiles } from '../files/bad-files.ts';
import { options, standardWeb } from './load-files.ts';

const rounds = Number(process.env['YAML_ROUNDS'] ?? 300);
/** Of the processor, for one file. */
const maxMs = 1_000;
/** Of the process, at the end. */
const maxMiB = 1_000;

/** Template files, good and bad, to which things happen. Octets stand as characters (Latin-1). */
const seeds = [
  standardWeb,
  ...badFiles()
    .flatMap(({ files }) => Object.values(files))
    .flatMap((file) => (Buffer.isBuffer(file) && file.length < 20_000 ? file.toString('latin1') : [])),
];

const words = [
  ...Array.from('\0\t\n\r "\'#%&*,-:<>?@[]`{}|!~$\u00ff\u00fe\u00bf'),
  ...'&a ,*a,<<: ,!!str ,!x ,${,$${,${web},? ,: ,- ,null,true,.inf,0x1f,"\\uD800",[[[[,{{{{'.split(','),
  ...'\n---\n,\n...\n,%YAML 1.1\n,\n  ,|\n,>-\n,\r\n'.split(','),
  // In UTF-8: a byte order mark, a line separator.
  '\u00ef\u00bb\u00bf',
  '\u00e2\u0080\u00a8',
];

type Change = (before: string, after: string, at: number) => string;

/** What may happen to a file at a place, which is a fraction of its length. */
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(fc.constantFrom(...words), fc.constantFrom(1, 1, 1, 2, 100)).map(
    ([text, times]): Change =>
      (before, after) =>
        before + text.repeat(times) + after,
  ),
  fc.nat(30).map(
    (length): Change =>
      (before, after) =>
        before + after.slice(length),
  ),
  fc.tuple(fc.nat(60), fc.constantFrom(1, 2, 50)).map(
    ([length, times]): Change =>
      (before, after) =>
        before + after.slice(0, length).repeat(times) + after,
  ),
  fc.constantFrom(...seeds).map(
    (other): Change =>
      (before, _, at) =>
        before + other.slice(Math.floor(at * other.length)),
  ),
  fc.nat(255).map(
    (octet): Change =>
      (before, after) =>
        before + String.fromCharCode(octet) + after.slice(1),
  ),
);

/** What is left of a file after some changes. */
const mutatedFile = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(fc.tuple(change, fc.double({ min: 0, max: 1, noNaN: true })), { minLength: 1, maxLength: 8 }),
  )
  .map(([seed, changes]) => {
    const made = changes.reduce((content, [make, place]) => {
      const at = Math.floor(place * content.length);
      return make(content.slice(0, at), content.slice(at), place);
    }, seed);
    return made.slice(0, 500_000);
  });

const fileOf = (path: string, text: string, includes: SourceFile['includes']): SourceFile => {
  const bytes = Buffer.from(text, 'latin1');
  return { path, isFragment: path.startsWith('_'), hash: '', parsed: null, bytes, includes };
};

const stateOf = async (text: string): Promise<DesiredState> => {
  const mail = 'vars: {mx: a}\nrecords: [{type: MX, content: mx.example.net, priority: 1}]\n';
  const includes = new Map([['_mail.yaml', fileOf('_mail.yaml', mail, new Map())]]);
  return desiredState([await resolveFile(fileOf('a.yaml', text, includes), options)], [], [], false);
};

const checks: ReadonlySet<string> = new Set(checkIds);

const faultsOf = ({ problems, unusable }: DesiredState, milliseconds: number): string[] => [
  ...(milliseconds > maxMs ? [`it took ${Math.round(milliseconds)} ms`] : []),
  ...problems.flatMap((problem) => {
    const line = formatProblem(problem);
    const isPlaced = Number(problem.line) >= 1 && Number(problem.column) >= 1;
    return isPlaced && !line.includes('\n') && checks.has(problem.check) ? [] : [line];
  }),
  ...(problems.some(({ severity }) => severity === 'error') === unusable.length > 0
    ? []
    : ['errors and unusable templates do not agree']),
];

const peak = (): number => process.resourceUsage().maxRSS / 1_024;

test(`${rounds} mutated files: no crash, no hang, and every problem has its place, in one line`, async () => {
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
