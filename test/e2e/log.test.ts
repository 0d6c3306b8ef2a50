import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { status } from '../hosting/scripted-server.ts';
import { addTemplate, describing, startDaemon } from './daemon.ts';
import { run, workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const withWww = (address: string): string =>
  `${describing('site', address)}  - {type: A, name: www, content: 192.0.2.9}\n`;

it('the log says who caused a change, which write and which pass it was, and when drift ended', async () => {
  let isLosing = false;
  const service = await startService(({ method }) => (isLosing && method !== 'GET' ? status(500) : null));
  const id = await addTemplate(service, 'site', '192.0.2.1');
  await addTemplate(service, 'shop', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (name: string, text: string): Promise<void> => writeBelow(cwd, `templates/${name}.yaml`, text);
  await edit('site', withWww('192.0.2.1'));
  await edit('shop', describing('shop', '192.0.2.1'));
  const daemon = await startDaemon([], { cwd, env: { ...service.env, LOG_LEVEL: 'debug' } });
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });

  // An edit of the file.
  await edit('site', withWww('192.0.2.2'));
  const edited = await daemon.event('change.applied');
  const finished = await daemon.event('pass.finished');
  expect(edited).toMatchObject({
    run: finished['run'],
    write: expect.stringMatching(/^[\da-f-]{36}\/\d+$/),
    cause: 'edited',
    trigger: 'file-change',
    source: { file: 'templates/site.yaml', line: 3, column: 5 },
    revision: null,
  });

  // Drift that a pass corrects ends with it.
  const [record] = await service.records(id);
  await service.change('edit-record', { record_id: record?.id, content: '192.0.2.7' });
  const requested = await daemon.pass();
  const isOf = ({ run: one }: LogLine): boolean => one === requested['run'];
  const inPass = daemon.lines().filter(isOf);
  expect(inPass.find(({ event }) => event === 'change.applied')).toMatchObject({
    cause: 'drifted',
    trigger: 'request',
  });
  expect(inPass.find(({ event }) => event === 'drift.ended')).toMatchObject({
    level: 'info',
    template: 'site',
    templateId: id,
    was: 'drifted',
    since: expect.stringMatching(/Z$/),
  });
  expect(inPass.filter(({ event }) => event === 'service.request').length).toBeGreaterThan(1);

  // The answer to an add is lost: the record that it replaces is gone, so it has no id.
  const [, www] = await service.records(id);
  await service.change('remove-record', { record_id: www?.id });
  isLosing = true;
  await daemon.pass();
  const lost = daemon.lines().find(({ event }) => event === 'change.unknown');
  expect(lost).toMatchObject({ action: 'add', recordId: null, cause: 'drifted' });
  const failed = daemon.lines().findLast(({ event }) => event === 'pass.finished');
  expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining('site: ') });
  const report = JSON.stringify(await daemon.json('/api/report'));
  expect(report).toContain(JSON.stringify(lost?.['write']));

  // One that begins with it, and one that is not described any more.
  isLosing = false;
  await edit('shop', 'template: shop\nrecords:\n  - {type: A, content: nonsense}\n');
  const invalid = await daemon.event('templates.invalid');
  expect(await daemon.event('pass.finished', ({ run: one }) => one === invalid['run'])).toMatchObject({
    error: expect.stringContaining('nonsense'),
  });
  await rm(path.join(cwd, 'templates/shop.yaml'));
  const unmanaged = await daemon.event('template.unmanaged');
  await daemon.event('pass.finished', ({ run: one }) => one === unmanaged['run']);

  daemon.signal('SIGTERM');
  await daemon.ended;
  const { stdout } = await run(['history', '--format', 'json'], { cwd, env: service.env });
  const entries: LogLine[] = JSON.parse(stdout);
  expect(entries.find(({ write }) => write === edited['write'])).toMatchObject({
    cause: 'edited',
    trigger: 'file-change',
    source: { file: 'templates/site.yaml', line: 3 },
    revision: null,
  });
  const text = (await run(['history'], { cwd, env: service.env })).stdout;
  expect(text).toContain('applied   site: update #');
  expect(text).toContain('edited · templates/site.yaml:3');
});
