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

/** A place whose file wants some names, and processes that keep what they remember at an address. `folder`: of another build. */
export const newWorkers = (service: Service, url: string, settings: Readonly<Record<string, string>>) => {
  const cwd = newFolder();
  mkdirSync(path.join(cwd, 'templates'));
  const want = (names: readonly string[]): void => {
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
  const start = (
    args: readonly string[],
    folder?: string,
    more: Readonly<Record<string, string>> = {},
  ): Worker => {
    const script = folder === undefined ? {} : { script: path.join(folder, 'main.js') };
    const program = startProcess(args, { cwd, env: { ...env, ...more } }, script);
    return { ...program, ended: program.ended.then(() => program.output()) };
  };
  return { want, start };
};

/** How often each of these names is there. */
export const countsOf = async (service: Service, names: readonly string[]): Promise<number[]> => {
  const records = await service.records(17);
  return names.map((name) => records.filter((record) => record.name === name).length);
};
