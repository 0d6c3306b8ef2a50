import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { git } from '../source/checkout.ts';
import { addTemplate, describing } from './daemon.ts';
import { run, workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';
import { isOf, troubledDaemon } from './troubled-daemon.ts';

vi.setConfig({ testTimeout: 60_000 });

it('the log says who caused a change, and which write and which pass it was', async () => {
  const { lines, launch, edited, corrected, failed, report, invalid, refused } = await troubledDaemon();
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
