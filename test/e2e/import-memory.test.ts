import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

it('imported records belong to the file, so that a removed line is parked', async () => {
  const service = await startService();
  const launch = { cwd: await workplace({ withExamples: false }), env: service.env };
  expect(await run(['import', 'voice'], launch)).toMatchObject({ code: 0, stderr: '' });
  expect(service.writes()).toEqual([]);

  const file = path.join(launch.cwd, 'templates/voice.yaml');
  const lines = (await readFile(file, 'utf8')).split('\n');
  const dropped = lines.findIndex((line) => line.includes('type: A,'));
  await writeFile(file, lines.toSpliced(dropped, 1).join('\n'));
  const env = { ...service.env, DNS_SYNC_SURPLUS: 'park' };
  const { stdout } = await run(['plan', '--format', 'json'], { ...launch, env });
  expect(reportOf(stdout).templates).toMatchObject([
    { template: 'voice', differences: [{ action: 'park', cause: 'edited' }] },
  ]);
});

it('import into a directory that no pass reads saves no state', async () => {
  const service = await startService();
  const launch = { cwd: await workplace({ withExamples: false }), env: service.env };
  expect(await run(['import', '--out', 'elsewhere'], launch)).toMatchObject({ code: 0, stderr: '' });
  expect((await run(['plan', '--allow-empty', '--templates', 'elsewhere'], launch)).stderr).toContain(
    'planned without saved state',
  );
});
