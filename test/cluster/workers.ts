import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startProcess } from '../process.ts';
import type { Program } from '../program.ts';
import { clientToken, userToken, type Service } from '../service.ts';
import { newFolder } from '../state/samples.ts';

/** A process; `ended` is what it said. */
export interface Worker extends Omit<Program, 'ended'> {
  readonly ended: Promise<string>;
}

type Settings = Readonly<Record<string, string>>;

/**
 * A place whose file wants some names, processes that keep what they remember at an address, and the records of these names
 * at the service. `folder`: of another build.
 */
export const newWorkers = (service: Service, url: string, settings: Settings, folder?: string) => {
  const cwd = newFolder();
  mkdirSync(path.join(cwd, 'templates'));
  let wanted: readonly string[] = [];
  const want = (...names: readonly string[]): void => {
    wanted = names;
    const records = names.map((name) => `  - {type: A, name: ${name}, content: 203.0.113.99}\n`);
    const head = 'template: standard-web\nadopt: true\nrecords:\n';
    writeFileSync(path.join(cwd, 'templates/web.yaml'), head + records.join(''));
  };
  const env = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: userToken,
    DNS_SYNC_CLIENT_TOKEN: clientToken,
    DNS_SYNC_STORE: url,
    DNS_SYNC_LEASE_DURATION: '4s',
    DNS_SYNC_SETTLE: '20ms',
    ...settings,
  };
  const script = folder === undefined ? {} : { script: path.join(folder, 'main.js') };
  const start = (args: readonly string[], more: Settings = {}): Worker => {
    const program = startProcess(args, { cwd, env: { ...env, ...more } }, script);
    return { ...program, ended: program.ended.then(() => program.output()) };
  };
  /** One pass, which waits for others; its place is left where it cannot be had in a minute. */
  const begin = (more?: Settings): Worker => start(['apply', '--yes', '--lock-timeout', '60s'], more);
  const apply = (more?: Settings): Promise<string> => begin(more).ended;
  const daemon = (): Worker => start(['run', '--listen', 'off', '--schedule', '*/10 * * * * *']);
  /** How often each wanted name is there. */
  const counts = async (): Promise<number[]> => {
    const records = await service.records(17);
    return wanted.map((name) => records.filter((record) => record.name === name).length);
  };
  /** Until nothing is left to do: what was unknown waits for a while. */
  const applyAll = async (more?: Settings): Promise<void> => {
    while ((await counts()).includes(0)) await apply(more);
  };
  return { want, begin, apply, applyAll, daemon, counts };
};
