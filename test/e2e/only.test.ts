import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing } from './daemon.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

it('--only says which of its patterns is no record, and why others are skipped', async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  await addTemplate(service, 'web', '192.0.2.1');
  await writeBelow(
    cwd,
    'templates/web.yaml',
    `${describing('web', '192.0.2.9')}  - {type: A, name: www, content: 192.0.2.2}\n`,
  );
  const apply = (...args: readonly string[]) =>
    run(['apply', '--yes', '--format', 'json', ...args], { cwd, env: service.env });
  expect(await apply('--only', 'wwww A')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--only `wwww A` is no record'),
  });
  expect(service.writes()).toEqual([]);
  const { stdout } = await apply('--only', 'www A');
  expect(reportOf(stdout).templates[0]?.differences).toContainEqual(
    expect.objectContaining({ outcome: 'skipped', error: expect.stringContaining('--only') }),
  );
});
