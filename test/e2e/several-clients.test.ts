import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing } from './daemon.ts';
import { reportOf, run, start, workplace } from './program.ts';
import { startHoldingService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

/** Two clients of one service, whose writes wait: acme has one to make, bakery none. */
const place = async () => {
  const { service, held, release } = await startHoldingService();
  const cwd = await workplace({ withExamples: false });
  for (const [name, wanted] of [
    ['acme', '192.0.2.2'],
    ['bakery', '192.0.2.1'],
  ] as const) {
    await addTemplate(service, `${name}-web`, '192.0.2.1');
    await writeBelow(cwd, `templates/${name}/a.yaml`, describing(`${name}-web`, wanted));
  }
  const clients = ['acme', 'bakery'].map(
    (name) => `  ${name}: {templates: templates/${name}, clientToken: {env: ${name.toUpperCase()}_TOKEN}}\n`,
  );
  await writeBelow(cwd, 'dns-template-sync.yaml', `settle: 0s\nclients:\n${clients.join('')}`);
  const { DNS_SYNC_CLIENT_TOKEN: _, ...env } = service.env;
  const launch = { cwd, env: { ...env, ACME_TOKEN: 'token of acme', BAKERY_TOKEN: 'token of the bakery' } };
  return { service, held, release, launch };
};

it('apply waits for no client that has none of its templates, and reports on none', async () => {
  const { service, held, release, launch } = await place();
  // What is true of all is said once.
  const together = await run(['plan'], launch);
  expect(together.stderr).toMatch(/^dns-template-sync: (acme|bakery): planned without saved state.*\n$/m);
  const first = start(['apply', 'acme-web', '--yes'], launch);
  await held;
  const apply = ['apply', '--yes', '--lock-timeout', '100ms', '--format', 'json'];
  const { code, stdout } = await run([...apply, 'bakery-web'], launch);
  expect(code).toBe(0);
  expect(reportOf(stdout).templates.map(({ template }) => template)).toEqual(['bakery-web']);
  expect(await run([...apply, 'acme-*'], launch)).toMatchObject({ code: 1 });
  expect(await run(apply, launch)).toMatchObject({ code: 1 });
  release();
  expect(await first.ended).toMatchObject({ code: 0 });
  const before = service.seen.length;
  await run(['plan', 'bakery-web'], launch);
  const asked = service.seen.slice(before).map(({ headers, query }) => JSON.stringify([headers, query]));
  expect(asked.join('\n')).not.toContain('acme');
});
