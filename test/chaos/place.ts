import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/lib/clock.ts';
import type { Report } from '../../src/result.ts';
import { start as startInside, type Ended, type Program } from '../e2e/program.ts';
import { startFaultyService, type FaultyService, type FaultyServiceOptions } from './faulty-service.ts';
import { startProgram, type ProgramOptions } from './program.ts';
import { writeTemplateFile, type FileRecord } from './template-files.ts';
import type { WireRecord } from './wire.ts';

/** A service with one template, a file that describes it, and the program between them. */
export interface Place {
  readonly service: FaultyService;
  readonly templateId: number;
  readonly folder: string;
  readonly stateDir: string;
  /** Replaces the content of the file. */
  write(
    records: readonly FileRecord[],
    more?: Partial<Parameters<typeof writeTemplateFile>[1]>,
  ): Promise<void>;
  start(args: readonly string[], options?: StartOptions): Program;
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  apply(options?: StartOptions & { readonly args?: readonly string[] }): Promise<Applied>;
  /** The true records of the template. */
  records(): readonly WireRecord[];
}

interface StartOptions {
  /** Besides those that lead to the service, the files and the state; undefined to unset one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Milliseconds that its wall clock is ahead of ours: it was set. */
  readonly clockAhead?: number;
  /** Milliseconds by which both of its clocks are ahead of ours: it is started so much later. */
  readonly later?: number;
  /** What takes a process of its own: to be killed, to have fewer rights, or to have a full disk. */
  readonly process?: Pick<ProgramOptions, 'uid' | 'fileLimit'>;
}

export interface Applied extends Ended {
  readonly report: Report;
  /** How many writes reached the service. */
  readonly writes: number;
}

export const openPlace = async (
  actual: readonly FileRecord[],
  options: FaultyServiceOptions = {},
): Promise<Place> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'dns-template-sync-place-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const service = await startFaultyService(options);
  const records = actual.map((record) => ({ ...record, ttl: record.ttl ?? 3600 }));
  const { id: templateId } = service.change('add-template', { name: 'web', records });
  const stateDir = path.join(folder, 'state');
  let starts = 0;

  const start: Place['start'] = (args, { env = {}, clockAhead = 0, later = 0, process } = {}) => {
    starts += 1;
    const all = {
      DNS_SYNC_BASE_URL: service.url,
      DNS_SYNC_USER_TOKEN: `process-${starts}`,
      DNS_SYNC_CLIENT_TOKEN: 'token-of-client',
      DNS_SYNC_TEMPLATES: path.join(folder, 'templates'),
      DNS_SYNC_STATE_DIR: stateDir,
      DNS_SYNC_SETTLE: '30ms',
      DNS_SYNC_UNKNOWN_PAUSE: '50ms',
      ...env,
    };
    const launch = { cwd: folder, env: definedIn(all) };
    return process
      ? startProgram({ args, ...launch, ...process })
      : startInside(args, { ...launch, clock: clockAt(clockAhead + later, later) });
  };

  return {
    service,
    templateId,
    folder,
    stateDir,
    start,
    run: (args, more) => start(args, more).ended,
    write: (desired, more = {}) =>
      writeTemplateFile(path.join(folder, 'templates'), {
        template: 'web',
        surplus: 'report',
        adopt: false,
        records: desired,
        ...more,
      }),
    apply: async ({ args = [], ...more } = {}) => {
      const before = service.writes.length;
      const ended = await start(['apply', '--yes', '--format', 'json', ...args], more).ended;
      const writes = service.writes.length - before;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another test checks its form
      const report = (ended.stdout === '' ? null : JSON.parse(ended.stdout)) as Report;
      return { ...ended, stderr: withoutProgress(ended.stderr), report, writes };
    },
    records: () => service.templates().find(({ id }) => id === templateId)?.dns_template_records ?? [],
  };
};

const definedIn = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

/** The clock of this machine, so many milliseconds ahead. */
const clockAt = (wall: number, monotonic: number): Clock => ({
  now: () => systemClock.now() + wall,
  uptime: () => {
    const { boot, at } = systemClock.uptime();
    return { boot, at: at + monotonic };
  },
  sleep: systemClock.sleep,
});

/** Its output besides the lines for each write. */
const withoutProgress = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => !/^(?:applied|failed|outcome unknown|waiting .*): /.test(line))
    .join('\n');

export const address = (name: string | null, content: string, ttl: number | null = null): FileRecord => ({
  type: 'A',
  name,
  content,
  priority: null,
  ttl,
});
