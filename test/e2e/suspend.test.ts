import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { startDaemon } from './daemon.ts';
import { run, workplace, type Launch } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const fileOf = (...records: readonly string[]): string =>
  ['template: web', 'records:', ...records.map((record) => `  - { ${record} }`), ''].join('\n');

const apex = 'type: A, content: 192.0.2.1';

/** A template in sync with its file, and then an edit of that. */
const place = async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const edit = (...records: readonly string[]): Promise<void> =>
    writeBelow(cwd, 'templates/web.yaml', fileOf(apex, ...records));
  await edit();
  const launch: Launch = { cwd, env: service.env };
  const { id } = (await service.change('add-template', {
    name: 'web',
    records: [{ type: 'A', content: '192.0.2.1' }],
  })) as { id: number };
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  const namesNow = async (): Promise<(string | null)[]> =>
    (await service.records(id)).map(({ name }) => name).toSorted();
  return { launch, edit, namesNow };
};

const www = 'type: A, name: www, content: 192.0.2.2';
const api = 'type: A, name: api, content: 192.0.2.3';

it('a suspended template is not written to, by anybody, until it is resumed', async () => {
  const { launch, edit, namesNow } = await place();
  const said = await run(['suspend', 'web', '--for', '2h', '--reason', 'moving the mail'], launch);
  expect(said).toMatchObject({ code: 0 });
  expect(said.stdout).toMatch(/^web: suspended by .+ until 20.+: moving the mail\n$/);

  await edit(www);
  const applied = await run(['apply', 'web', '--yes', '--force', '--format', 'json'], launch);
  expect(applied.code).toBe(1);
  expect(JSON.parse(applied.stdout)).toMatchObject({
    status: 'suspended',
    templates: [{ status: 'suspended', suspension: { reason: 'moving the mail' } }],
  });
  expect((await run(['plan'], launch)).stdout).toMatch(/suspended by .+ until 20.+: moving the mail/);
  expect(await namesNow()).toEqual([null]);

  expect((await run(['resume', 'web'], launch)).stdout).toMatch(/^web: resumed; .+: moving the mail\n$/);
  expect((await run(['resume', 'web'], launch)).stdout).toBe('web: was not suspended\n');
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  expect(await namesNow()).toEqual([null, 'www']);
});

it('a daemon obeys a suspension that was made while it runs, also of its whole client', async () => {
  const { launch, edit, namesNow } = await place();
  const daemon = await startDaemon([], launch);
  await daemon.event('pass.finished');
  await run(['suspend', '--client', 'default', '--reason', 'an audit'], launch);
  await edit(www);
  expect(await daemon.event('pass.finished', ({ trigger }) => trigger === 'file-change')).toMatchObject({
    status: 'suspended',
  });
  expect(await namesNow()).toEqual([null]);
  await run(['resume', '--client', 'default'], launch);
  await edit(www, api);
  await daemon.event('pass.finished', ({ status }) => status === 'in-sync');
  expect(await namesNow()).toEqual(['api', null, 'www']);
});

it.each([
  [['suspend', 'web'], '--reason: say why'],
  [['suspend', 'wbe', '--reason', 'a'], 'no template is called wbe; did you mean `web`?'],
  [['suspend', '--reason', 'a'], 'name the templates, or all of a client with --client NAME'],
  [['suspend', 'web', '--reason', 'a', '--for', 'soon'], '--for: expected a duration'],
  [['suspend', 'web', '--reason', 'a', '--for', '999999999d'], '1000d at most'],
])('%j is refused', async (words, message) => {
  const { launch } = await place();
  const refused = await run(words, launch);
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain(message);
});

it('--only writes what it selects, and leaves the rest', async () => {
  const { launch, edit, namesNow } = await place();
  await edit(www, api);
  const applied = await run(
    ['apply', '--yes', '--only', 'www A', '--detailed-exitcode', '--format', 'json'],
    launch,
  );
  expect(applied.code).toBe(2);
  expect(await namesNow()).toEqual([null, 'www']);
  expect(JSON.parse(applied.stdout)).toMatchObject({
    templates: [
      {
        differences: [
          { outcome: 'applied' },
          { outcome: 'skipped', error: expect.stringContaining('--only') },
        ],
      },
    ],
  });
  const unknown = await run(['apply', '--yes', '--only', 'wwww A'], launch);
  expect(unknown).toMatchObject({ code: 1 });
  expect(await namesNow()).toEqual([null, 'www']);
});

it('a closed window holds changes, and says when it opens', async () => {
  const { launch, edit, namesNow } = await place();
  await edit(www);
  const day = new Date(Date.now() + 3 * 86_400_000).toLocaleDateString('en', {
    weekday: 'short',
    timeZone: 'UTC',
  });
  const closed: Launch = { ...launch, env: { ...launch.env, DNS_SYNC_WINDOW: `${day} 08:00-09:00 UTC` } };
  const applied = await run(['apply', '--yes', '--format', 'json'], closed);
  expect(applied.code).toBe(1);
  expect(JSON.parse(applied.stdout)).toMatchObject({
    templates: [{ status: 'held', waitsUntil: expect.stringContaining('T08:00:00') }],
  });
  expect(await namesNow()).toEqual([null]);
  expect(await run(['apply', 'web', '--yes', '--force'], closed)).toMatchObject({ code: 0 });
  expect(await namesNow()).toEqual([null, 'www']);
});
