import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { loadFiles } from '../desired/load-files.ts';
import { clientTable, limitTable, programTable, secretTable, variableOf } from '../../src/settings/table.ts';

const folder = path.join('.github', 'docs');
const textOf = (page: string): string => readFileSync(path.join(folder, page), 'utf8');

const below = path.join('.github', 'deploy');
const manifests = readdirSync(below, { recursive: true, encoding: 'utf8' }).filter(
  (file) => /^(compose|kubernetes)/.test(file) && file.endsWith('.yaml') && !file.includes('templates'),
);
const read = (file: string): unknown =>
  parseAllDocuments(readFileSync(path.join(below, file), 'utf8'))[0]?.toJS();
const documents: readonly unknown[] = manifests.map(read);

/** Those that a schema fits. */
const those = <T>(schema: z.ZodType<T>): T[] =>
  documents.flatMap((one) => {
    const { data } = schema.safeParse(one);
    return data === undefined ? [] : [data];
  });

const labels = z.strictObject({ matchLabels: z.record(z.string(), z.string()) });
const probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string(), port: z.string() }),
  timeoutSeconds: z.number().optional(),
  periodSeconds: z.number().optional(),
  failureThreshold: z.number().optional(),
});
const container = z.strictObject({
  name: z.string(),
  image: z.string(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  ports: z.array(z.strictObject({ name: z.string(), containerPort: z.number() })),
  startupProbe: probe.optional(),
  livenessProbe: probe,
  readinessProbe: probe,
  resources: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  securityContext: z.strictObject({
    readOnlyRootFilesystem: z.literal(true),
    allowPrivilegeEscalation: z.literal(false),
    capabilities: z.strictObject({ drop: z.array(z.string()) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: z.string(), mountPath: z.string(), readOnly: z.literal(true).optional() }),
  ),
});
const deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    replicas: z.number(),
    strategy: z.strictObject({ type: z.literal('Recreate') }).optional(),
    selector: labels,
    template: z.strictObject({
      metadata: z.strictObject({ labels: z.record(z.string(), z.string()) }),
      spec: z.strictObject({
        automountServiceAccountToken: z.literal(false),
        terminationGracePeriodSeconds: z.number().optional(),
        securityContext: z.looseObject({ runAsNonRoot: z.literal(true), runAsUser: z.literal(1000) }),
        topologySpreadConstraints: z
          .array(
            z.strictObject({
              maxSkew: z.number(),
              topologyKey: z.string(),
              whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
              labelSelector: labels,
            }),
          )
          .optional(),
        containers: z.array(container).length(1),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
});
/** What an overlay changes of a Deployment. */
const patch = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({
    template: z.strictObject({
      spec: z.strictObject({ containers: z.array(container.pick({ name: true, env: true })).length(1) }),
    }),
  }),
});
const overlay = z.strictObject({
  namespace: z.string(),
  resources: z.tuple([z.string()]),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })).length(1),
  patches: z.tuple([z.strictObject({ path: z.string() })]),
  generatorOptions: z.strictObject({ disableNameSuffixHash: z.literal(true) }),
  configMapGenerator: z.tuple([z.strictObject({ name: z.string(), files: z.array(z.string()) })]),
});
const budget = z.strictObject({
  apiVersion: z.literal('policy/v1'),
  kind: z.literal('PodDisruptionBudget'),
  metadata: z.strictObject({ name: z.string() }),
  spec: z.strictObject({ minAvailable: z.number(), selector: labels }),
});
const composeService = z.looseObject({
  environment: z.record(z.string(), z.string()),
  secrets: z.array(z.string()),
  volumes: z.array(z.string()),
  depends_on: z.record(z.string(), z.strictObject({ condition: z.string() })).optional(),
});
const compose = z.strictObject({
  services: z.record(z.string(), composeService),
  secrets: z.record(z.string(), z.strictObject({ file: z.string() })),
  volumes: z.record(z.string(), z.null()),
});

const deployments = those(deployment);

describe('the manifests', () => {
  it('are of the kinds that are known here', () => {
    const kinds = documents.flatMap(
      (one) => z.looseObject({ kind: z.string() }).safeParse(one).data?.kind ?? [],
    );
    expect(kinds.toSorted()).toEqual([
      'Deployment',
      'Deployment',
      'Deployment',
      'PersistentVolumeClaim',
      'PodDisruptionBudget',
    ]);
    expect([those(overlay), those(patch)].map(({ length }) => length)).toEqual([1, 1]);
    expect(deployments).toHaveLength(2);
    expect(those(compose)).toHaveLength(3);
  });

  it.each(deployments.map((one) => [one.spec.replicas, one] as const))(
    'of a Deployment of %d name what there is',
    (replicas, { spec }) => {
      const { metadata, spec: pod } = spec.template;
      const [own] = pod.containers;
      expect(metadata.labels).toEqual(spec.selector.matchLabels);
      for (const { labelSelector } of pod.topologySpreadConstraints ?? [])
        expect(labelSelector).toEqual(spec.selector);
      expect(own?.volumeMounts.map(({ name }) => name)).toEqual(pod.volumes.map(({ name }) => name));
      const ports = own?.ports.map(({ name }) => name);
      for (const one of [own?.startupProbe, own?.livenessProbe, own?.readinessProbe]) {
        if (one === undefined) continue;
        expect(ports).toContain(one.httpGet.port);
        expect(textOf('daemon.md')).toContain(`\`GET ${one.httpGet.path}`);
      }
      const env = new Map(own?.env.map(({ name, value }) => [name, value]));
      expect(env.get('DNS_SYNC_LISTEN')).toBe(`0.0.0.0:${own?.ports[0]?.containerPort}`);
      for (const [name, value] of env)
        if (name.endsWith('_FILE'))
          expect(own?.volumeMounts.some(({ mountPath }) => value.startsWith(`${mountPath}/`))).toBe(true);
      // Without a store, two at a time would each write with a memory of their own.
      expect(env.has('DNS_SYNC_STORE_FILE')).toBe(replicas > 1);
      expect(spec.strategy?.type === 'Recreate').toBe(replicas === 1);
    },
  );

  it('are linked from the documentation, and each kustomization names all that are beside it', () => {
    const folders = readdirSync(below, { withFileTypes: true }).filter((one) => one.isDirectory());
    for (const { name } of folders) expect(textOf('deployment.md')).toContain(`](../deploy/${name}`);
    for (const file of manifests.filter((one) => one.startsWith('compose')))
      expect(textOf('deployment.md')).toContain(`](../deploy/${file})`);
    for (const name of ['kubernetes', 'kubernetes-postgres']) {
      const beside = readdirSync(path.join(below, name)).filter((one) => one !== 'kustomization.yaml');
      const { resources } = z
        .strictObject({ resources: z.array(z.string()) })
        .parse(read(`${name}/kustomization.yaml`));
      expect(resources.toSorted()).toEqual(beside.toSorted());
    }
  });

  it('of an overlay change what its base has, and name files that are there', async () => {
    const [{ resources, images, patches, configMapGenerator }] = those(overlay) as [z.infer<typeof overlay>];
    const [change] = those(patch) as [z.infer<typeof patch>];
    const place = 'kubernetes-overlay';
    expect(read(path.join(place, patches[0].path))).toEqual(change);
    const whole = deployment.parse(read(path.join(place, resources[0], 'deployment.yaml')));
    const { containers, volumes } = whole.spec.template.spec;
    const [changed] = change.spec.template.spec.containers;
    expect([change.metadata.name, changed?.name]).toEqual([whole.metadata.name, containers[0]?.name]);
    expect(containers[0]?.image.split(':')[0]).toBe(images[0]?.name);
    const [{ name, files }] = configMapGenerator;
    expect(volumes).toContainEqual(expect.objectContaining({ configMap: { name } }));
    const found = await loadFiles(
      Object.fromEntries(files.map((file) => [file, readFileSync(path.join(below, place, file))])),
    );
    expect([found.problems, found.templates.length]).toEqual([[], files.length]);
  });

  it('of a PodDisruptionBudget are about the replicas, and leave one of them to be moved', () => {
    const several = deployments.find(({ spec }) => spec.replicas > 1);
    for (const { metadata, spec } of those(budget)) {
      expect([metadata, spec.selector]).toEqual([several?.metadata, several?.spec.selector]);
      expect(spec.minAvailable).toBeLessThan(several?.spec.replicas ?? 0);
    }
  });

  it('of Compose name secrets, volumes and services that they have', () => {
    for (const { services, secrets, volumes } of those(compose)) {
      expect(Object.values(services).flatMap((one) => one.secrets)).toEqual(Object.keys(secrets));
      for (const { environment, secrets: own, volumes: mounts, depends_on: others } of Object.values(
        services,
      )) {
        for (const value of Object.values(environment))
          if (value.startsWith('/run/secrets/')) expect(own).toContain(value.slice('/run/secrets/'.length));
        for (const mount of mounts.filter((one) => !one.startsWith('.')))
          expect(Object.keys(volumes)).toContain(mount.split(':')[0]);
        for (const other of Object.keys(others ?? {})) expect(Object.keys(services)).toContain(other);
      }
    }
  });

  it('name variables that the program knows', () => {
    const tables = [clientTable, limitTable, programTable];
    const known = new Set<string>([
      'DNS_SYNC_CONFIG',
      ...Object.keys(secretTable).flatMap((key) => [variableOf(key), `${variableOf(key)}_FILE`]),
      ...tables.flatMap((table) => Object.values(table).flatMap((one) => one.env ?? [])),
    ]);
    const files = [
      ...readdirSync(folder).map((page) => path.join(folder, page)),
      ...manifests.map((one) => path.join(below, one)),
    ];
    for (const file of files)
      for (const [name] of readFileSync(file, 'utf8').matchAll(/\bDNS_SYNC_[A-Z_]*[A-Z]\b/g))
        expect(known.has(name) ? name : `${file}: ${name}`).toBe(name);
  });
});
