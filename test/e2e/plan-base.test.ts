import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate } from './daemon.ts';
import { reportOf, run, workplace, type Launch } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const fileOf = (records: readonly string[], keys: string): string =>
  `template: site\n${keys}records:\n${records.map((record) => `  - {${record}}\n`).join('')}`;

/** A template that has what the base branch describes, since a pass has written that; and the files of a pull request. */
const prepared = async (base: readonly string[], request: readonly string[], keys = '') => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const launch = { cwd, env: { ...service.env, DNS_SYNC_SETTLE: '0s' } };
  await writeBelow(cwd, 'base/templates/site.yaml', fileOf(base, keys));
  await writeBelow(cwd, 'templates/site.yaml', fileOf(base, keys));
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  await writeBelow(cwd, 'templates/site.yaml', fileOf(request, keys));
  return { service, id, cwd, launch };
};

const planned = async (args: readonly string[], launch: Launch) => {
  const { stdout } = await run(['plan', '--format', 'json', ...args], launch);
  return reportOf(stdout);
};

const apex = 'type: A, content: 192.0.2.1';
const www = 'type: A, name: www, content: 192.0.2.2';
const mail = 'type: MX, content: mx.example.net, priority: 10';

const situations: Record<string, [before: string[], after: string[], keys?: string]> = {
  'an edit': [
    [apex, www],
    [apex, 'type: A, name: www, content: 192.0.2.3'],
  ],
  'a rename with park': [[apex, www], [apex, 'type: A, name: web, content: 192.0.2.2'], 'surplus: park\n'],
  'a removal with park': [[apex, www, mail], [apex], 'surplus: park\n'],
  'an edit with mode edits': [[apex, mail], [apex, mail.replace('10', '20')], 'mode: edits\n'],
};

describe('plan --base shows what the daemon will do', () => {
  it.each(Object.entries(situations))('about %s', async (_, [before, after, keys = '']) => {
    const { cwd, launch } = await prepared(before, after, keys);
    const own = await planned([], launch);
    await rm(path.join(cwd, 'state'), { recursive: true });
    const without = await planned([], launch);
    const based = await planned(['--base', 'base'], launch);
    expect(based.templates).toEqual(own.templates);
    expect(without.templates).not.toEqual(based.templates);
  });
});

it('shows what drifted since, beside what is edited', async () => {
  const { service, id, launch } = await prepared(
    [apex, www],
    [apex, 'type: A, name: www, content: 192.0.2.3'],
  );
  const records = await service.records(id);
  for (const one of records) {
    const content = one.name === 'www' ? '192.0.2.8' : '192.0.2.9';
    await service.change('edit-record', { record_id: one.id, content });
  }
  const { templates } = await planned(['--base', 'base'], launch);
  expect(templates[0]?.differences).toMatchObject([
    { action: 'update', current: { content: '192.0.2.9' }, cause: 'drifted' },
    { action: 'update', current: { content: '192.0.2.8' }, desired: { content: '192.0.2.3' }, cause: 'both' },
  ]);
});

it('takes a directory of template files as well as a checkout, and says what the plan is without', async () => {
  const { cwd, launch } = await prepared([apex, www], [apex]);
  for (const base of ['base', 'base/templates', path.join(cwd, 'base')])
    expect((await planned(['--base', base], launch)).templates[0]?.differences).toMatchObject([
      { action: 'surplus', cause: 'edited' },
    ]);
  for (const format of ['text', 'markdown', 'html']) {
    const { code, stdout, stderr } = await run(['plan', '--base', 'base', '--format', format], launch);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('as if the files of the base branch had been applied');
  }
  expect(await run(['plan', '--base', 'bare'], launch)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--base: cannot read bare (it does not exist: ENOENT)'),
  });
});

it('finds the files of each client at their own place', async () => {
  const service = await startService();
  for (const name of ['acme', 'bakery'])
    await service.change('add-template', { name, records: [{ type: 'A', content: '192.0.2.1' }] });
  const cwd = await workplace({ withExamples: false });
  await writeBelow(
    cwd,
    'dns-template-sync.yaml',
    'clients:\n  acme: {templates: dns/acme, clientToken: {env: ACME_TOKEN}}\n  bakery: {templates: dns/bakery, clientToken: {env: BAKERY_TOKEN}}\n',
  );
  for (const name of ['acme', 'bakery'])
    for (const [place, address] of [
      ['base/', '192.0.2.1'],
      ['', '192.0.2.2'],
    ])
      await writeBelow(
        cwd,
        `${place}dns/${name}/a.yaml`,
        `template: ${name}\nrecords: [{type: A, content: ${address}}]\n`,
      );
  const { DNS_SYNC_CLIENT_TOKEN: _, ...env } = service.env;
  const launch = { cwd, env: { ...env, ACME_TOKEN: 'token of acme', BAKERY_TOKEN: 'token of the bakery' } };
  const { templates } = await planned(['--base', 'base'], launch);
  expect(templates.map(({ differences }) => differences)).toMatchObject([
    [{ action: 'update', cause: 'edited' }],
    [{ action: 'update', cause: 'edited' }],
  ]);
});

describe('a plan file', () => {
  it('is of one service and client, and may begin with a mark', async () => {
    const { service, cwd, launch } = await prepared(
      [apex, www],
      [apex, 'type: A, name: www, content: 192.0.2.3'],
    );
    await run(['plan', '--format', 'json', '--out', 'plan.json'], launch);
    const apply = (file: string, more: Launch = launch) => run(['apply', '--yes', '--plan', file], more);
    const other = await startService();
    await other.change('add-template', {
      name: 'site',
      records: [
        { type: 'A', content: '192.0.2.1' },
        { type: 'A', name: 'www', content: '192.0.2.2' },
      ],
    });
    for (const env of [other.env, { DNS_SYNC_BASE_URL: `${service.url}/` }]) {
      const { code, stderr } = await apply('plan.json', { cwd, env: { ...launch.env, ...env } });
      if (env === other.env) {
        expect(code).toBe(1);
        expect(stderr).toContain('the plan in plan.json is of another service');
        expect(other.writes()).toEqual([]);
      } else expect(code).toBe(0);
    }
    await writeBelow(cwd, 'templates/site.yaml', fileOf([apex, www], ''));
    await run(['plan', '--format', 'json', '--out', 'plan.json'], launch);
    const text = await readFile(path.join(cwd, 'plan.json'), 'utf8');
    await writeBelow(cwd, 'marked.json', `\ufeff${text}`);
    await writeBelow(cwd, 'older.json', text.replace(/"service": ".*",\n/, ''));
    expect(await apply('older.json')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not a report of plan'),
    });
    expect(await apply('marked.json')).toMatchObject({ code: 0 });
  });
});
