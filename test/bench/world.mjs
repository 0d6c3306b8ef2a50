import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { recordOf, templateName, templateText } from './records.mjs';

/**
 * A directory with template files and a service that holds the same, for the time of `task`; `faults` is the share of
 * requests that fail.
 */
export const withWorld = async ({ templates, records, faults = 0 }, task) => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'bench-'));
  // What is written elsewhere shall be no news to who watches the files.
  const folder = path.join(cwd, 'files/templates');
  await mkdir(folder, { recursive: true });
  const service = await startService(templates, records, faults);
  const wanted = Array.from({ length: records }, (_, index) => recordOf(index));
  const write = async (index, list) => {
    const name = templateName(index);
    const file = path.join(folder, `${name}.yaml`);
    await writeFile(`${file}.new`, templateText(name, list));
    const savedAt = performance.timeOrigin + performance.now();
    await rename(`${file}.new`, file);
    return savedAt;
  };
  // For half a minute after a change, files that may be on their way are looked at more closely.
  const earlier = new Date(Date.now() - 3_600_000);
  for (let index = 0; index < templates; index += 1) {
    await write(index, wanted);
    await utimes(path.join(folder, `${templateName(index)}.yaml`), earlier, earlier);
  }
  try {
    const edited = (at, content) => wanted.with(at, { ...wanted[at], type: 'A', content });
    const env = environment(cwd, folder, service.url);
    return await task({ cwd, folder, service, wanted, edited, write, env });
  } finally {
    service.close();
    await rm(cwd, { recursive: true });
  }
};

/** A directory with the example templates, for the time of `task`. */
export const withExamples = async (task) => {
  const cwd = await mkdtemp(path.join(tmpdir(), 'bench-'));
  try {
    const examples = path.join(import.meta.dirname, '../../templates');
    await cp(examples, path.join(cwd, 'templates'), { recursive: true });
    return await task(cwd);
  } finally {
    await rm(cwd, { recursive: true });
  }
};

/** So many clients, each with its own templates and token, for the time of `task`. */
export const withClients = (clients, size, task) =>
  withWorld(size, async ({ cwd, folder, env, ...world }) => {
    const { DNS_SYNC_CLIENT_TOKEN: _, DNS_SYNC_TEMPLATES: __, ...rest } = env;
    await mkdir(path.join(cwd, 'tokens'));
    const names = Array.from({ length: clients }, (___, at) => `client-${at + 1}`);
    for (const name of names) {
      await cp(folder, path.join(cwd, 'files', name), { recursive: true });
      await writeFile(path.join(cwd, 'tokens', name), `${randomBytes(16).toString('hex')}-${name}\n`);
    }
    const lines = names.map(
      (name) => `  ${name}: {templates: ./files/${name}, clientToken: {file: ./tokens/${name}}}\n`,
    );
    await writeFile(path.join(cwd, 'dns-template-sync.yaml'), `clients:\n${lines.join('')}`);
    return task({ ...world, cwd, env: rest });
  });

export const triggerToken = 'trigger-token-of-the-bench';

const environment = (cwd, folder, url) => ({
  DNS_SYNC_BASE_URL: url,
  DNS_SYNC_USER_TOKEN: 'user-token',
  DNS_SYNC_CLIENT_TOKEN: 'client-token',
  DNS_SYNC_TRIGGER_TOKEN: triggerToken,
  DNS_SYNC_TEMPLATES: folder,
  DNS_SYNC_STATE_DIR: path.join(cwd, '.state'),
  DNS_SYNC_SETTLE: '0s',
});

const startService = async (templates, records, faults) => {
  const child = fork(path.join(import.meta.dirname, 'service.mjs'), {
    env: { ...process.env, TEMPLATES: templates, RECORDS: records, FAULTS: faults },
  });
  const [{ url }] = await once(child, 'message');
  const writes = [];
  child.on('message', (write) => writes.push(write));
  return {
    url,
    /** All that came. */
    writes,
    /** When the next write comes, in ms since the epoch. */
    written: async () => (await once(child, 'message'))[0].written,
    close: () => child.disconnect(),
  };
};
