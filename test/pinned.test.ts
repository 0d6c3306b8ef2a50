import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

/** A tag is whatever its owner makes of it tomorrow. */
const workflows = path.join('.github', 'workflows');
const docs = path.join('.github', 'docs');
const below = (folder: string): string[] => readdirSync(folder).map((name) => path.join(folder, name));
const compose = path.join('.github', 'deploy', 'compose');
const files = ['README.md', ...below(docs), ...below(workflows), ...below(compose)];

const matchesIn = (file: string, pattern: RegExp): string[] =>
  [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, found = '']) => found);

it.each([path.join(docs, 'ci.md'), ...below(workflows)])(
  '%s pins every action to one commit, with its version beside it',
  (file) => {
    const uses = matchesIn(file, /^\s*(?:- )?uses: *(.*)$/gm);
    expect(uses.length).toBeGreaterThan(0);
    // An action of the same repository is of the same commit.
    for (const action of uses.filter((one) => !one.startsWith('./')))
      expect(action).toMatch(/^[\w-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  },
);

const dockerfile = readFileSync('Dockerfile', 'utf8');
const images = (text: string): string[] =>
  [...text.matchAll(/NODE_IMAGE(?:=|: *'?)([^\s'}]+)/g)].map(([, image = '']) => image);

/** Beside its default, which has no digest: not every builder can pull by one. */
const [pinned, tag, ...further] = images(dockerfile);

it('the Dockerfile names its base image by tag and digest', () => {
  expect(pinned).toMatch(/^node:\d+\.\d+\.\d+-\S+@sha256:[\da-f]{64}$/);
  expect([tag, ...further]).toEqual([pinned?.split('@')[0]]);
});

it('the Dockerfile uses no other image', () => {
  const from = matchesIn('Dockerfile', /^FROM +(\S+)/gm);
  const stages = matchesIn('Dockerfile', /^FROM .* AS +(\w+)$/gm);
  expect(from).toEqual(['${NODE_IMAGE}', '${NODE_IMAGE}']);
  for (const stage of matchesIn('Dockerfile', /--from=(\S+)/g)) expect(stages).toContain(stage);
});

it('the documented build commands use that digest', () => {
  const recipes = files.flatMap((file) =>
    matchesIn(file, /^(.*\b(?:docker|podman|buildah) (?:\S+ )*?(?:build|bud)\b(?:.*\\\n)*.*)$/gm),
  );
  const composed = files.flatMap((file) => matchesIn(file, /^( +build:.*(?:\n {6,}.*)*)$/gm));
  expect(recipes.length).toBeGreaterThan(0);
  expect(composed.length).toBeGreaterThan(0);
  for (const recipe of [...recipes, ...composed]) expect(images(recipe)).toEqual([pinned]);
});

it('a token of the GitLab recipe reaches no image but that of this program', () => {
  const jobs = readFileSync(path.join(docs, 'ci.md'), 'utf8')
    .split(/\n(?=dns-\w+:\n)/)
    .slice(1);
  const trusted = jobs.filter((job) => job.includes('_TOKEN'));
  expect(trusted.length).toBeGreaterThan(0);
  for (const job of trusted) expect(job).toContain('image: { name: registry.example.net/dns-template-sync:');
});

it('Dependabot moves everything that is pinned', () => {
  const moved = matchesIn('.github/dependabot.yml', /package-ecosystem: (\S+)/g);
  expect(moved.sort()).toEqual(['docker', 'github-actions', 'npm']);
});
