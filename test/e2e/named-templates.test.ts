import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { addTemplate, contentsOf, describing } from './daemon.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** Templates `acme-web`, `acme-mail` and `other`; the file of `broken` has errors, as has the one of `other`. */
const place = async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  await mkdir(path.join(cwd, 'templates'));
  const ids: Record<string, number> = {};
  for (const name of ['acme-web', 'acme-mail', 'other']) {
    ids[name] = await addTemplate(service, name, '192.0.2.1');
    await writeFile(path.join(cwd, `templates/${name}.yaml`), describing(name, '192.0.2.2'));
  }
  await writeFile(path.join(cwd, 'templates/broken.yaml'), 'template: broken\nrecords: [{type: AA}]\n');
  await writeFile(path.join(cwd, 'templates/nameless.yaml'), 'records: [\n');
  return { service, ids, launch: { cwd, env: service.env } };
};

describe('a template named on the command line', () => {
  it('does not fail because of errors in other files', async () => {
    const { service, ids, launch } = await place();
    const plan = await run(['plan', 'acme-web', '--format', 'json'], launch);
    expect(plan.code).toBe(0);
    expect(reportOf(plan.stdout)).toMatchObject({ status: 'drifted', problems: [] });
    const applied = await run(['apply', 'acme-web', '--yes'], launch);
    expect(applied.code).toBe(0);
    expect(await contentsOf(service, ids['acme-web']!)).toEqual(['192.0.2.2']);
  });

  it('fails because of its own errors', async () => {
    const { launch } = await place();
    const { code, stdout } = await run(['plan', 'broken', '--format', 'json'], launch);
    expect(code).toBe(1);
    expect(reportOf(stdout).problems.map(({ file }) => file)).toEqual(
      expect.arrayContaining(['templates/broken.yaml']),
    );
    expect(reportOf(stdout).problems.every(({ file }) => file === 'templates/broken.yaml')).toBe(true);
  });

  it('may be a pattern', async () => {
    const { launch } = await place();
    const { code, stdout } = await run(['plan', 'acme-*', '--format', 'json'], launch);
    expect(code).toBe(0);
    expect(reportOf(stdout).templates.map(({ template }) => template)).toEqual(['acme-mail', 'acme-web']);
    const none = await run(['plan', 'nobody-*'], launch);
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody-*') });
  });

  it('may be called by its id or its name at the service, if its file states the id alone', async () => {
    const { service, ids, launch } = await place();
    const id = String(ids['acme-web']);
    const file = path.join(launch.cwd, 'templates/acme-web.yaml');
    await writeFile(file, describing('x', '192.0.2.2').replace('template: x', `id: ${id}`));
    for (const name of ['acme-web', id, 'acme-w*', `template-${id}`]) {
      const { stdout } = await run(['plan', name, '--format', 'json'], launch);
      expect(reportOf(stdout).templates.map((one) => one.id)).toEqual([ids['acme-web']]);
    }
    expect((await run(['apply', '--force', 'acme-web', '--yes'], launch)).code).toBe(0);
    expect(await contentsOf(service, ids['acme-web']!)).toEqual(['192.0.2.2']);
    for (const name of ['acme-web', id])
      expect((await run(['history', name], launch)).stdout).toContain('192.0.2.2');
    // So may one whose file states its name.
    const mail = await run(['plan', String(ids['acme-mail']), '--format', 'json'], launch);
    expect(reportOf(mail.stdout).templates.map(({ template }) => template)).toEqual(['acme-mail']);
  });
});
