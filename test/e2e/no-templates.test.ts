import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { addTemplate, contentsOf, describing, startDaemon } from './daemon.ts';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A service, and an empty templates directory beside a fragment. */
const place = async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  await mkdir(path.join(cwd, 'templates'));
  await writeFile(path.join(cwd, 'templates/_shared.yaml'), 'records: []\n');
  return { service, cwd, launch: { cwd, env: service.env } };
};

describe('no template files at all', () => {
  it('are reported for their client, with all its paths', async () => {
    const { cwd, launch } = await place();
    await mkdir(path.join(cwd, 'more'));
    const { stdout } = await run(['validate', '--templates', 'templates', '--templates', 'more'], launch);
    expect(stdout).toMatch(/^error: no template files .* in templates, more/);
  });

  it('make the daemon not ready, and its passes fail', async () => {
    const { cwd, service, launch } = await place();
    const id = await addTemplate(service, 'site', '192.0.2.1');
    const daemon = await startDaemon([], launch);
    expect(await daemon.event('pass.finished')).toMatchObject({ status: 'failed' });
    const probe = await daemon.ask('/readyz');
    expect([probe.status, await probe.text()]).toEqual([503, expect.stringContaining('in templates')]);
    expect(
      (await daemon.scrape()).value('dns_template_sync_last_success_timestamp_seconds', {
        client: 'default',
      }),
    ).toBe(0);
    await writeFile(path.join(cwd, 'templates/site.yaml'), describing('site', '192.0.2.2'));
    await daemon.event('change.applied');
    await daemon.event('pass.finished', ({ status }) => status === 'in-sync');
    expect((await daemon.ask('/readyz')).status).toBe(200);
    expect(await contentsOf(service, id)).toEqual(['192.0.2.2']);
  });

  it('are no error for a daemon with --allow-empty', async () => {
    const { launch } = await place();
    const daemon = await startDaemon(['--allow-empty'], launch);
    expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
    expect((await daemon.ask('/readyz')).status).toBe(200);
  });
});
