import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { toolsIn } from './tools.ts';

const deploy = path.join('.github', 'deploy');
const resource = z.looseObject({ apiVersion: z.string(), kind: z.string() });
type Resource = z.infer<typeof resource>;

/** The manifests that are files; what a kustomization says is not for a cluster. */
const manifests: [string, Resource][] = readdirSync(deploy, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.startsWith('kubernetes') && file.endsWith('.yaml'))
  .flatMap((file) => {
    const [document] = parseAllDocuments(readFileSync(path.join(deploy, file), 'utf8'));
    const { data } = resource.safeParse(document?.toJS());
    return data === undefined ? [] : [[file, data] as [string, Resource]];
  });

/** Rejects with what is wrong by the schemas of Kubernetes. */
const check = async (manifest: Resource): Promise<void> => {
  const file = `node_modules/kubernetes-models/${manifest.apiVersion}/${manifest.kind}.js`;
  const models: Readonly<Record<string, new (data: Resource) => { validate(): void }>> = await import(
    pathToFileURL(path.resolve(toolsIn(file))).href
  );
  new models[manifest.kind]!(manifest).validate();
};

it('there are manifests of each kind', () => {
  const kinds = new Set(manifests.map(([, { kind }]) => kind));
  expect([...kinds].toSorted()).toEqual(['Deployment', 'PersistentVolumeClaim', 'PodDisruptionBudget']);
});

it.each(manifests.filter(([file]) => !file.includes('overlay')))(
  '%s fits the schema of Kubernetes',
  (_, manifest) => check(manifest),
);

it.each<[string, (text: string) => string, RegExp]>([
  [
    'a number that is a text',
    (text) => text.replace('"replicas":1', '"replicas":"1"'),
    /replicas must be integer/,
  ],
  ['a probe of another form', (text) => text.replace('"port":"http"', '"port":{}'), /port/],
  ['a missing selector', (text) => text.replace('"selector":', '"selectors":'), /selector/],
])('a mistake in one would be noticed: %s', async (_, change, words) => {
  const [, whole] = manifests.find(([file]) => file === path.join('kubernetes', 'deployment.yaml'))!;
  const text = JSON.stringify(whole);
  expect(change(text)).not.toBe(text);
  await expect(check(JSON.parse(change(text)))).rejects.toThrow(words);
});
