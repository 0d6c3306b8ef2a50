import { readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { built } from '../built.ts';

/** Packages that the source names in its imports. */
const imported = new Set(
  readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => [
      ...readFileSync(`src/${file}`, 'utf8').matchAll(/^(?:import|export) (?!type).*from '([^.'].*)';$/gm),
    ])
    .map(([, name = '']) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
    .filter((name) => !isBuiltin(name)),
);

const packageSchema = z.object({
  version: z.string(),
  dependencies: z.record(z.string(), z.string()).default({}),
});
const packageOf = (folder: string) =>
  packageSchema.parse(JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')));
const outside = Object.keys(packageOf('.').dependencies);
const bundled = [...imported, 'thread-stream', 'quick-format-unescaped', 'rolldown'].filter(
  (name) => !outside.includes(name),
);

const notices = readFileSync(built('THIRD-PARTY-NOTICES.txt'), 'utf8');

it.each(bundled)('third-party code that is bundled is listed with its licence: %s', (name) => {
  const folder = `node_modules/${name}`;
  expect(notices).toContain(`\n${name} ${packageOf(folder).version} (`);
  const licence = readdirSync(folder).find((file) => file.startsWith('LICENSE')) ?? 'none';
  expect(notices).toContain(readFileSync(`${folder}/${licence}`, 'utf8').trim());
});

it('third-party code is listed for programs, with the packages beside it and without tools', () => {
  const sbom = z
    .object({
      bomFormat: z.literal('CycloneDX'),
      specVersion: z.string(),
      components: z.array(
        z.object({
          name: z.string(),
          version: z.string(),
          purl: z.string(),
          hashes: z.tuple([z.object({ alg: z.literal('SHA-512'), content: z.string().length(128) })]),
          licenses: z.array(z.unknown()).min(1),
        }),
      ),
    })
    .parse(JSON.parse(readFileSync(built('sbom.cdx.json'), 'utf8')));
  const listed = new Map(sbom.components.map(({ name, version }) => [name, version]));
  for (const name of [...bundled, ...outside])
    expect([name, listed.get(name)]).toEqual([name, packageOf(`node_modules/${name}`).version]);
  for (const tool of ['vitest', 'typescript', 'oxlint']) expect(listed.has(tool)).toBe(false);
  const purls = sbom.components.map(({ purl }) => purl);
  expect(purls).toContain(`pkg:npm/%40hono/node-server@${listed.get('@hono/node-server')}`);
  expect(new Set(purls).size).toBe(purls.length);
});
