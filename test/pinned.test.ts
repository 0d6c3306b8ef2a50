import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

/** A tag is whatever its owner makes of it tomorrow. */
const workflows = path.join('.github', 'workflows');
const files = ['README.md', ...readdirSync(workflows).map((name) => path.join(workflows, name))];

const matchesIn = (file: string, pattern: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, found = '']) => found);

it.each(files)('%s uses every action at one commit, whose version stands beside it', (file) => {
  const uses = matchesIn(file, /^\s*(?:- )?uses: *(.*)$/gm);
  expect(uses.length).toBeGreaterThan(0);
  for (const action of uses) expect(action).toMatch(/^[\w-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
});

it('the Dockerfile begins at images by digest alone', () => {
  const images = matchesIn('Dockerfile', /^FROM +(.*)$/gm);
  const stages = matchesIn('Dockerfile', /^FROM .* AS +(\w+)$/gm);
  const pulled = images.filter((image) => ![...stages, 'scratch'].includes(image.split(' ')[0] ?? ''));
  expect(pulled.length).toBeGreaterThan(0);
  for (const image of pulled) expect(image).toMatch(/^node:\d+\.\d+\.\d+-\S+@sha256:[\da-f]{64}( AS \w+)?$/);
  const copied = matchesIn('Dockerfile', /--from=(\S+)/g);
  for (const stage of copied) expect(stages).toContain(stage);
});
