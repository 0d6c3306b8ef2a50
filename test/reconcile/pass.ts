import type { HostingErrorKind } from '../../src/hosting/errors.ts';
import { HostingError } from '../../src/hosting/errors.ts';
import type {
  DesiredState,
  DesiredTemplate,
  ActualTemplate,
  SubdomainRecord,
} from '../../src/model/template.ts';
import type { RecordAddition, RecordChange } from '../../src/plan/step.ts';
import { reconcile, type Pass } from '../../src/reconcile/pass.ts';
import type { PassResult } from '../../src/result.ts';
import type { ClientMemory } from '../../src/state/memory.ts';
import { newFile, opened } from '../state/samples.ts';

/** A fault of the service at one call: it throws, or gives another answer. */
export type Mishap = (template: ActualTemplate) => ActualTemplate;

export interface Scene {
  /** The true template of the service. */
  actual: ActualTemplate;
  /** By call, as `list 2` or `add 1`. */
  readonly mishaps: Map<string, Mishap>;
  /** The records of a subdomain, where they are not those of the template. */
  derived: (subdomain: string) => readonly SubdomainRecord[];
  /** Templates of the client without faults. */
  beside: readonly ActualTemplate[];
  /** Every call of the passes so far, in order. */
  readonly calls: string[];
  readonly memory: ClientMemory;
  now: number;
  /** Milliseconds of `now` that went by on the wall clock alone. */
  jumped: number;
  /** The pass covers what the file describes. */
  pass(
    desired: DesiredTemplate | readonly DesiredTemplate[] | DesiredState,
    more?: Partial<Pass>,
  ): Promise<PassResult>;
}

export const openScene = async (actual: ActualTemplate): Promise<Scene> => {
  const memory = await opened(newFile());
  const counts = new Map<string, number>();
  // No id is used twice, also after a removal.
  let highestId = 0;
  const noteIds = (): number =>
    (highestId = Math.max(highestId, ...scene.actual.records.map((record) => record.id)));
  const called = (operation: string): ActualTemplate => {
    noteIds();
    const count = (counts.get(operation) ?? 0) + 1;
    counts.set(operation, count);
    const call = `${operation} ${count}`;
    scene.calls.push(call);
    return (scene.mishaps.get(call) ?? ((template) => template))(scene.actual);
  };
  const store = (records: ActualTemplate['records']): void => {
    scene.actual = { ...scene.actual, records };
  };
  const add = ({ type, content, name, ttl, priority }: RecordAddition): void => {
    const id = noteIds() + 1;
    const record = { id, type, content, name: name ?? null, ttl: ttl ?? 300, priority: priority ?? null };
    store([...scene.actual.records, record]);
  };
  const update = ({ recordId, ...change }: RecordChange): void => {
    const changed = Object.fromEntries(Object.entries(change).filter(([, value]) => value != null));
    store(scene.actual.records.map((one) => (one.id === recordId ? { ...one, ...changed } : one)));
  };
  /** A mishap that throws keeps the write from being stored. */
  const write = (operation: string, change: () => void): ActualTemplate => {
    const before = scene.actual;
    change();
    try {
      return called(operation);
    } catch (error) {
      scene.actual = before;
      throw error;
    }
  };
  const scene: Scene = {
    actual,
    mishaps: new Map(),
    derived: () => derivedFrom(scene.actual),
    beside: [],
    calls: [],
    memory,
    now: Date.UTC(2026, 10, 20),
    jumped: 0,
    pass: (desired, more = {}) => {
      counts.clear();
      return reconcile(
        'files' in desired ? desired : { templates: [desired].flat(), unusable: [], problems: [], files: 1 },
        {
          client: 'acme',
          run: 'run-1',
          trigger: 'schedule',
          startedAt: scene.now,
          templates: [],
          service: {
            listDnsTemplates: async () => [called('list'), ...scene.beside],
            addDnsTemplateRecord: async (_, record) => write('add', () => add(record)),
            updateDnsTemplateRecord: async (_, change) => write('update', () => update(change)),
            listDnsRecords: async (subdomain) => {
              called(`records of ${subdomain}`);
              return [...scene.derived(subdomain)];
            },
          },
          listing: null,
          memory: scene.memory,
          writer: scene.memory,
          clock: {
            now: () => scene.now,
            uptime: () => ({ boot: 'b', at: scene.now - scene.jumped }),
            sleep: () => Promise.resolve(),
          },
          signal: new AbortController().signal,
          onChange: () => undefined,
          warn: () => undefined,
          revisionOf: () => null,
          settle: 10_000,
          unknownPause: 300_000,
          subdomainGrace: 900_000,
          maxAddsPerPass: 300,
          concurrency: 1,
          ignoreSubdomains: false,
          force: false,
          retry: false,
          acceptLoss: false,
          ...more,
        },
      );
    },
  };
  return scene;
};

/** The records of a subdomain that follows the template. */
const derivedFrom = ({ records }: ActualTemplate): SubdomainRecord[] =>
  records.map((record) => ({ ...record, id: record.id + 1_000, templateRecordId: record.id }));

export const failing =
  (kind: HostingErrorKind, status: number | null, retryAfter: number | null = null): Mishap =>
  () => {
    throw new HostingError(`it says ${kind}`, { operation: 'list-dns-templates', kind, status, retryAfter });
  };
