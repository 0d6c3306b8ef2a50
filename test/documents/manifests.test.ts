import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { loadFiles } from '../desired/load-files.ts';
import { everyRow } from '../../src/settings/table.ts';
import { docs, folder, textOf } from './documents.ts';

// Whether they fit the schemas of Kubernetes, test/daemon/operators asks. Here is what no schema knows.

const deploy = path.join('.github', 'deploy');
const manifests = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /^(compose|kubernetes)/.test(file) && file.endsWith('.yaml') && !file.includes('templates'),
);
const composes = manifests.filter((file) => file.startsWith('compose'));
const deployments = ['kubernetes', 'kubernetes-postgres'];

/** The first document of a file, whatever it is. */
const read = (file: string) => parseAllDocuments(textOf(path.join(deploy, file)))[0]?.toJS();
const page = (name: string): string => textOf(path.join(folder, name));

interface Named {
  readonly name: string;
}
const namesOf = (list: readonly Named[]): string[] => list.map(({ name }) => name);

describe('the manifests', () => {
  it.each(deployments)('of %s name what there is', (place) => {
    const { spec } = read(path.join(place, 'deployment.yaml'));
    const pod = spec.template.spec;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000 },
      containers: [{ securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false } }],
    });
    const [own] = pod.containers;
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels);
    expect(namesOf(own.volumeMounts)).toEqual(namesOf(pod.volumes));
    const probes = [own.livenessProbe, own.readinessProbe, ...(own.startupProbe ? [own.startupProbe] : [])];
    for (const { httpGet } of probes) {
      expect(namesOf(own.ports)).toContain(httpGet.port);
      expect(page('daemon.md')).toContain(`\`GET ${httpGet.path}`);
    }
    const env = new Map<string, string>(
      own.env.map(({ name, value }: Record<string, string>) => [name, value]),
    );
    expect(env.get('DNS_SYNC_LISTEN')).toBe(`0.0.0.0:${own.ports[0].containerPort}`);
    const mounts: string[] = own.volumeMounts.map(({ mountPath }: Record<string, string>) => `${mountPath}/`);
    for (const [name, value] of env)
      if (name.endsWith('_FILE')) expect(mounts.filter((mount) => value.startsWith(mount))).toHaveLength(1);
    // Without a store, two at a time would each write with a memory of their own.
    expect(env.has('DNS_SYNC_STORE_FILE')).toBe(spec.replicas > 1);
    expect(spec.strategy?.type === 'Recreate').toBe(spec.replicas === 1);
    const beside = readdirSync(path.join(deploy, place)).filter((one) => one !== 'kustomization.yaml');
    const { resources, ...others } = read(path.join(place, 'kustomization.yaml'));
    expect([resources.toSorted(), others]).toEqual([beside.toSorted(), {}]);
  });

  it('of a PodDisruptionBudget leave one of the replicas to be moved', () => {
    const { spec } = read('kubernetes-postgres/deployment.yaml');
    const { minAvailable, selector } = read('kubernetes-postgres/budget.yaml').spec;
    expect(selector).toEqual(spec.selector);
    expect(minAvailable).toBeLessThan(spec.replicas);
  });

  it('are linked from the documentation', () => {
    const all = readdirSync(deploy, { withFileTypes: true });
    for (const one of all)
      if (one.isDirectory() || one.name.startsWith('compose'))
        expect(page('deployment.md')).toContain(`](../deploy/${one.name}`);
  });

  it('of an overlay change what its base has, and name files that are there', async () => {
    const place = 'kubernetes-overlay';
    const { resources, images, patches, configMapGenerator } = read(path.join(place, 'kustomization.yaml'));
    expect([resources, images, patches, configMapGenerator].map((list) => list.length)).toEqual([1, 1, 1, 1]);
    const whole = read(path.join(place, resources[0], 'deployment.yaml'));
    const { containers, volumes } = whole.spec.template.spec;
    const patch = read(path.join(place, patches[0].path));
    expect(patch.metadata.name).toBe(whole.metadata.name);
    const [{ name, env, ...others }] = patch.spec.template.spec.containers;
    expect([name, others]).toEqual([containers[0].name, {}]);
    expect(env.length).toBeGreaterThan(0);
    expect(containers[0].image.split(':')[0]).toBe(images[0].name);
    const [{ name: map, files }] = configMapGenerator;
    expect(volumes).toContainEqual(expect.objectContaining({ configMap: { name: map } }));
    const found = await loadFiles(
      Object.fromEntries(files.map((file: string) => [file, readFileSync(path.join(deploy, place, file))])),
    );
    expect([found.problems, found.templates.length]).toEqual([[], files.length]);
  });

  it.each(composes)('of %s name secrets, volumes and services that they have', (file) => {
    const { services, secrets, volumes } = read(file);
    const names: string[] = Object.keys(services);
    expect(names.flatMap((name) => services[name].secrets)).toEqual(Object.keys(secrets));
    for (const name of names) {
      const one = services[name];
      for (const value of Object.values<string>(one.environment))
        if (value.startsWith('/run/secrets/')) expect(one.secrets).toContain(path.basename(value));
      const mounts: string[] = one.volumes.filter((mount: string) => !mount.startsWith('.'));
      expect(Object.keys(volumes)).toEqual(
        expect.arrayContaining(mounts.map((mount) => mount.split(':')[0])),
      );
      expect(names).toEqual(expect.arrayContaining(Object.keys(one.depends_on ?? {})));
    }
  });

  it('name variables that the program knows', () => {
    const known = new Set(Object.values(everyRow).flatMap(({ variables }) => variables)).add(
      'DNS_SYNC_CONFIG',
    );
    const named = [...docs, ...manifests.map((one) => path.join(deploy, one))].flatMap((file) =>
      [...textOf(file).matchAll(/\bDNS_SYNC_[A-Z_]*[A-Z]\b/g)].map(([name]) => ({ file, name })),
    );
    expect(named.filter(({ name }) => !known.has(name))).toEqual([]);
  });
});
