import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadFiles } from '../desired/load-files.ts';
import { everyRow } from '../../src/settings/table.ts';

// Whether they fit the schemas of Kubernetes, test/daemon/operators asks. Here is what no schema knows.

const docs = path.join('.github', 'docs');
const deploy = path.join('.github', 'deploy');
const textOf = (page: string): string => readFileSync(path.join(docs, page), 'utf8');

const named = z.looseObject({ name: z.string() });
const probe = z.looseObject({ httpGet: z.looseObject({ path: z.string(), port: z.string() }) });
const container = z.looseObject({
  name: z.string(),
  image: z.string(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.number() })),
  startupProbe: probe.optional(),
  livenessProbe: probe,
  readinessProbe: probe,
  securityContext: z.looseObject({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
  }),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});
const deployment = z.looseObject({
  metadata: named,
  spec: z.looseObject({
    replicas: z.number(),
    strategy: z.looseObject({ type: z.string() }).optional(),
    selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }),
    template: z.looseObject({
      metadata: z.looseObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.looseObject({
        automountServiceAccountToken: z.literal(false),
        securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
        containers: z.tuple([container]),
        volumes: z.array(named),
      }),
    }),
  }),
});
const composeService = z.looseObject({
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  volumes: z.array(z.string()),
  depends_on: z.record(z.string(), z.unknown()).default({}),
});
const compose = z.strictObject({
  services: z.record(z.string(), composeService),
  secrets: z.record(z.string(), z.unknown()),
  volumes: z.record(z.string(), z.unknown()),
});

const manifests = readdirSync(deploy, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /^(compose|kubernetes)/.test(file) && file.endsWith('.yaml') && !file.includes('templates'),
);
const read = (file: string): unknown =>
  parseAllDocuments(readFileSync(path.join(deploy, file), 'utf8'))[0]?.toJS();
const readDeployment = (place: string) => deployment.parse(read(path.join(place, 'deployment.yaml')));

describe('the manifests', () => {
  it.each(['kubernetes', 'kubernetes-postgres'])('of %s name what there is', (place) => {
    const { spec } = readDeployment(place);
    const { metadata, spec: pod } = spec.template;
    const [own] = pod.containers;
    expect(metadata.labels).toEqual(spec.selector.matchLabels);
    expect(own.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
    for (const one of [own.startupProbe, own.livenessProbe, own.readinessProbe]) {
      if (one === undefined) continue;
      expect(own.ports.map(({ name }) => name)).toContain(one.httpGet.port);
      expect(textOf('daemon.md')).toContain(`\`GET ${one.httpGet.path}`);
    }
    const env = new Map(own.env.map(({ name, value }) => [name, value]));
    expect(env.get('DNS_SYNC_LISTEN')).toBe(`0.0.0.0:${own.ports[0]?.containerPort}`);
    for (const [name, value] of env)
      if (name.endsWith('_FILE'))
        expect(own.volumeMounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`))).toBe(true);
    // Without a store, two at a time would each write with a memory of their own.
    expect(env.has('DNS_SYNC_STORE_FILE')).toBe(spec.replicas > 1);
    expect(spec.strategy?.type === 'Recreate').toBe(spec.replicas === 1);
    const beside = readdirSync(path.join(deploy, place)).filter((one) => one !== 'kustomization.yaml');
    expect(read(`${place}/kustomization.yaml`)).toEqual({ resources: expect.toSatisfy(sameAs(beside)) });
  });

  it('of a PodDisruptionBudget leave one of the replicas to be moved', () => {
    const { spec } = readDeployment('kubernetes-postgres');
    const { spec: budget } = z
      .looseObject({ spec: z.strictObject({ minAvailable: z.number(), selector: z.unknown() }) })
      .parse(read('kubernetes-postgres/budget.yaml'));
    expect(budget.selector).toEqual(spec.selector);
    expect(budget.minAvailable).toBeLessThan(spec.replicas);
  });

  it('are linked from the documentation', () => {
    const names = readdirSync(deploy, { withFileTypes: true })
      .filter((one) => one.isDirectory() || one.name.startsWith('compose'))
      .map(({ name }) => name);
    for (const name of names) expect(textOf('deployment.md')).toContain(`](../deploy/${name}`);
  });

  it('of an overlay change what its base has, and name files that are there', async () => {
    const place = 'kubernetes-overlay';
    const { resources, images, patches, configMapGenerator } = z
      .looseObject({
        resources: z.tuple([z.string()]),
        images: z.tuple([named]),
        patches: z.tuple([z.looseObject({ path: z.string() })]),
        configMapGenerator: z.tuple([z.looseObject({ name: z.string(), files: z.array(z.string()) })]),
      })
      .parse(read(path.join(place, 'kustomization.yaml')));
    const whole = readDeployment(path.join(place, resources[0]));
    const { containers, volumes } = whole.spec.template.spec;
    const [{ name, env }] = z
      .looseObject({
        metadata: z.looseObject({ name: z.literal(whole.metadata.name) }),
        spec: z.looseObject({
          template: z.looseObject({
            spec: z.strictObject({
              containers: z.tuple([container.pick({ name: true, env: true }).strict()]),
            }),
          }),
        }),
      })
      .parse(read(path.join(place, patches[0].path))).spec.template.spec.containers;
    expect([name, env.length > 0]).toEqual([containers[0].name, true]);
    expect(containers[0].image.split(':')[0]).toBe(images[0].name);
    const [{ name: map, files }] = configMapGenerator;
    expect(volumes).toContainEqual(expect.objectContaining({ configMap: { name: map } }));
    const found = await loadFiles(
      Object.fromEntries(files.map((file) => [file, readFileSync(path.join(deploy, place, file))])),
    );
    expect([found.problems, found.templates.length]).toEqual([[], files.length]);
  });

  it.each(manifests.filter((file) => file.startsWith('compose')))(
    'of %s name secrets, volumes and services that they have',
    (file) => {
      const { services, secrets, volumes } = compose.parse(read(file));
      expect(Object.values(services).flatMap((one) => one.secrets)).toEqual(Object.keys(secrets));
      for (const { environment, secrets: own, volumes: mounts, depends_on: others } of Object.values(
        services,
      )) {
        for (const value of Object.values(environment))
          if (value.startsWith('/run/secrets/')) expect(own).toContain(value.slice('/run/secrets/'.length));
        for (const mount of mounts.filter((one) => !one.startsWith('.')))
          expect(Object.keys(volumes)).toContain(mount.split(':')[0]);
        for (const other of Object.keys(others)) expect(Object.keys(services)).toContain(other);
      }
    },
  );

  it('name variables that the program knows', () => {
    const rows = Object.values(everyRow);
    const known = new Set(['DNS_SYNC_CONFIG', ...rows.flatMap(({ variables }) => variables)]);
    const files = [
      ...readdirSync(docs).map((page) => path.join(docs, page)),
      ...manifests.map((one) => path.join(deploy, one)),
    ];
    for (const file of files)
      for (const [name] of readFileSync(file, 'utf8').matchAll(/\bDNS_SYNC_[A-Z_]*[A-Z]\b/g))
        expect(known.has(name) ? name : `${file}: ${name}`).toBe(name);
  });
});

const sameAs =
  (names: readonly string[]) =>
  (others: readonly string[]): boolean =>
    [...names].toSorted().join() === [...others].toSorted().join();
