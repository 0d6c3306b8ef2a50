import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { built } from '../built.ts';
import { freePort } from '../free-port.ts';
import { writeBelow } from '../daemon/ways.ts';
import { git } from '../source/checkout.ts';
import { addTemplate, describing } from './daemon.ts';
import { environmentOf, parseLine, run, workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';
import { isOf, troubledDaemon } from './troubled-daemon.ts';

vi.setConfig({ testTimeout: 60_000 });

it('the log says who caused a change, which write and which pass it was, and when drift ended', async () => {
  const { id, lines, launch, edited, corrected, failed, report, invalid, refused } = await troubledDaemon();
  const find = (event: string, pass: LogLine): LogLine | undefined =>
    lines.find((line) => line['event'] === event && isOf(pass)(line));
  const why = { cause: 'edited', trigger: 'file-change', source: { file: 'templates/site.yaml', line: 3 } };
  expect(edited).toMatchObject({
    ...why,
    write: expect.stringMatching(/^[\da-f-]{36}\/\d+$/),
    revision: null,
  });
  expect(find('pass.finished', edited)).toBeDefined();

  expect(find('change.applied', corrected)).toMatchObject({ cause: 'drifted', trigger: 'request' });
  expect(find('drift.ended', corrected)).toMatchObject({
    level: 'info',
    template: 'site',
    templateId: id,
    was: 'drifted',
    since: expect.stringMatching(/Z$/),
  });
  expect(find('service.request', corrected)).toBeDefined();

  // The record that an add replaces is gone, so the add has no id.
  const lost = find('change.unknown', failed);
  expect(lost).toMatchObject({ action: 'add', recordId: null, cause: 'drifted' });
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('site: ') });
  expect(JSON.stringify(report)).toContain(JSON.stringify(lost?.['write']));

  expect(invalid).toMatchObject({ trigger: 'file-change' });
  expect(refused).toMatchObject({ error: expect.stringContaining('nonsense') });

  const { stdout } = await run(['history', '--format', 'json'], launch);
  const entries: LogLine[] = JSON.parse(stdout);
  expect(entries.find(({ write }) => write === edited['write'])).toMatchObject({ ...why, revision: null });
  const text = (await run(['history'], launch)).stdout;
  expect(text).toContain('applied   site: update #');
  expect(text).toContain('edited · templates/site.yaml:3');
});

it('a write has the commit of the checkout that its file is in', async () => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const commit = (): string => {
    git(cwd, 'add', 'templates');
    git(cwd, 'commit', '--quiet', '-m', 'change');
    return git(cwd, 'rev-parse', 'HEAD');
  };
  const launch = { cwd, env: service.env };
  const newest = async (): Promise<unknown> => {
    await run(['apply', '--yes'], launch);
    const writes: LogLine[] = JSON.parse((await run(['history', '--format', 'json'], launch)).stdout);
    return writes.at(-1)?.['revision'];
  };
  git(cwd, 'init', '--quiet');
  const describe = (address: string): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address));
  await describe('192.0.2.2');
  expect(await newest()).toBeNull();
  await describe('192.0.2.3');
  const first = commit();
  expect(await newest()).toBe(first);
  await describe('192.0.2.4');
  const last = commit();
  expect(await newest()).toBe(last);
});

it('a reader of the log that stands still stops no pass, no probe and no signal', async () => {
  const service = await startService();
  const port = await freePort();
  const token = 'a token to start passes';
  const env = { ...service.env, DNS_SYNC_DRY_RUN: 'true', DNS_SYNC_TRIGGER_TOKEN: token };
  const cwd = await workplace({ withExamples: false });
  const records = Array.from(
    { length: 200 },
    (_, at) => `  - {type: A, name: host-${at}, content: 192.0.2.1}\n`,
  );
  await writeBelow(cwd, 'templates/web.yaml', `template: redirects\nrecords:\n${records.join('')}`);
  const args = ['run', '--schedule', '0 0 1 1 *', '--listen', `127.0.0.1:${port}`, '--log-format', 'json'];
  const child = spawn(process.execPath, [built('main.js'), ...args], {
    cwd,
    env: environmentOf({ cwd, env }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdout } = child;
  // The first line says that it listens. After that nobody reads.
  await once(stdout, 'data');
  stdout.pause();
  const ask = async (path: string, init: RequestInit = {}): Promise<string> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
    expect(answer.ok).toBe(true);
    return answer.text();
  };
  const passesDone = async (): Promise<number> =>
    Number(
      /^dns_template_sync_passes_total\{[^}]*request[^}]*\} (\d+)$/m.exec(await ask('/metrics'))?.[1] ?? 0,
    );
  const init = { method: 'POST', headers: { authorization: `Bearer ${token}` } };
  // Each pass logs a line of 16 KiB: together more than a pipe holds.
  for (let pass = 1; pass <= 15; pass += 1) {
    await ask('/api/reconcile', init);
    await vi.waitUntil(async () => (await passesDone()) >= pass, { timeout: 40_000, interval: 50 });
  }
  await ask('/livez');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  // The pipe was full: the last lines had no place.
  const left = await textOf(stdout);
  expect(left).not.toContain('daemon.stopped');
  for (const line of left.split('\n').slice(1, -1)) expect(() => parseLine(line)).not.toThrow();
});
