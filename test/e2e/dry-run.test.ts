import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { addTemplate, describing, startDaemon } from './daemon.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

it('a dry-run daemon reports the causes of changes that it saw, and writes nothing because of them', async () => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  await mkdir(path.join(cwd, 'templates'));
  await writeFile(path.join(cwd, 'templates/site.yaml'), describing('site', '192.0.2.1'));
  const launch = { cwd, env: service.env };
  const daemon = await startDaemon(['--dry-run'], launch);
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
  const [record] = await service.records(id);
  await service.change('edit-record', { record_id: record!.id, content: '192.0.2.9' });
  expect(await daemon.pass()).toMatchObject({ status: 'drifted' });
  const report = reportOf(await (await daemon.ask('/api/report')).text());
  expect(report).toMatchObject({
    dryRun: true,
    templates: [{ differences: [{ action: 'update', cause: 'drifted' }] }],
  });
  expect(report.templates[0]!.differences[0]).not.toHaveProperty('outcome');
  expect(service.writes()).toEqual([]);
  // What passes that write go by is not there yet.
  const plan = await run(['plan', '--format', 'json'], launch);
  expect(reportOf(plan.stdout).templates[0]?.differences).toMatchObject([{ cause: 'unknown' }]);
});
