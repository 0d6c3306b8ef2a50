import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeBelow } from './ways.ts';
import type { SeenRequest } from '../wire/scripted-server.ts';
import { addTemplate, contentsOf, describing, startDaemon } from './daemon.ts';
import { reportOf, run, workplace, type LogLine } from '../program.ts';
import { startService, userToken } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

const tokenOf = ({ query, body }: SeenRequest): string | null =>
  new URLSearchParams(`${query}&${body}`).get('client_token');

const of =
  (client: string) =>
  (line: LogLine): boolean =>
    line['client'] === client;

const invalid = {
  severity: 'error',
  check: 'settings',
  message: 'mode: expected one of enforce, edits, report',
  client: 'bakery',
  file: 'clients/bakery.yaml',
  line: 3,
  column: 7,
};

it('clients come, change and go with their files, and nobody else is disturbed', async () => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const write = (file: string, content: string): Promise<void> => writeBelow(cwd, file, content);
  const client = (name: string, more = ''): Promise<void> =>
    write(
      `clients/${name}.yaml`,
      `clientToken: {file: ../tokens/${name}}\ntemplates: ../templates/${name}\n${more}`,
    );
  const ids = new Map<string, number>();
  for (const name of ['acme', 'bakery', 'cafe']) {
    ids.set(name, await addTemplate(service, name, '192.0.2.1'));
    await write(`tokens/${name}`, `token-of-${name}`);
    await write(`templates/${name}/web.yaml`, describing(name, '"${address}"'));
  }
  await write('dns-template-sync.yaml', 'clients: ./clients/*.yaml\nvars: {address: 192.0.2.1}\n');
  await client('acme');
  await client('bakery', 'mode: sometimes\n');
  const env = { DNS_SYNC_BASE_URL: service.url, DNS_SYNC_USER_TOKEN: userToken };
  const daemon = await startDaemon([], { cwd, env });
  expect(daemon.lines().find(({ event }) => event === 'settings.refused')).toMatchObject({
    level: 'error',
    problems: [invalid],
  });
  expect(await daemon.event('pass.finished', of('acme'))).toMatchObject({ status: 'in-sync' });
  const valid = async (name: string): Promise<number | undefined> =>
    (await daemon.scrape()).value('dns_template_sync_settings_valid', { client: name });
  expect(await daemon.json('/api/report')).toMatchObject({ status: 'failed', problems: [invalid] });
  expect(await (await daemon.ask('/')).text()).toContain('expected one of enforce, edits, report');
  expect([await valid('acme'), await valid('bakery')]).toEqual([1, 0]);
  // Neither is it among those that a reload has taken.
  daemon.signal('SIGHUP');
  expect(await daemon.event('settings.reloaded')).toMatchObject({ clients: ['acme'], refused: ['bakery'] });
  expect(await daemon.event('settings.refused')).toMatchObject({ problems: [invalid] });
  await daemon.event('pass.finished', of('acme'));

  // One that is mended and one that is new begin.
  await client('bakery');
  expect(await daemon.event('pass.finished', of('bakery'))).toMatchObject({ status: 'in-sync' });
  const { service: digest } = reportOf((await run(['plan', '--format', 'json'], { cwd, env })).stdout);
  expect(digest).toMatch(/^[0-9a-f]{32}$/);
  const now = { status: 'in-sync', problems: [], service: digest };
  expect(await daemon.json('/api/report')).toMatchObject(now);
  expect(await valid('bakery')).toBe(1);
  await client('cafe', 'vars: {address: 192.0.2.3}\n');
  expect(await daemon.event('change.applied', of('cafe'))).toMatchObject({ after: { content: '192.0.2.3' } });

  // A changed one has its new settings, and an invalid one those that it had.
  await client('bakery', 'vars: {address: 192.0.2.2}\n');
  expect(await daemon.event('change.applied', of('bakery'))).toMatchObject({
    after: { content: '192.0.2.2' },
  });
  await client('bakery', 'vars: {address: 192.0.2.9}\nmoed: edits\n');
  await daemon.event('settings.refused', ({ problems }) => JSON.stringify(problems).includes('moed'));
  daemon.signal('SIGHUP');
  expect(await daemon.event('settings.reloaded')).toMatchObject({
    clients: ['acme', 'cafe'],
    refused: ['bakery'],
  });
  for (const _ of ids) await daemon.event('pass.finished');
  expect(await valid('bakery')).toBe(0);
  expect(await contentsOf(service, ids.get('bakery')!)).toEqual(['192.0.2.2']);

  // One whose file is gone ends; so does none for a file that says it twice.
  await rm(path.join(cwd, 'clients/cafe.yaml'));
  const isGone = ({ removed }: LogLine): boolean => JSON.stringify(removed) === '["cafe"]';
  await daemon.event('settings.reloaded', isGone);
  await write('clients/copy.yaml', 'clientToken: {file: ../tokens/acme}\ntemplates: ../templates/cafe\n');
  await daemon.event('settings.refused', ({ problems }) =>
    JSON.stringify(problems).includes('the same base URL and client token as clients/acme.yaml'),
  );
  const asked = service.seen.length;
  await daemon.pass('acme');
  expect(new Set(service.seen.slice(asked).map(tokenOf))).not.toContain('token-of-cafe');
  expect(await daemon.json('/api/report')).toMatchObject({
    templates: [{ client: 'acme' }, { client: 'bakery' }],
  });
  // Its passes are those of its start and of the requests: no change of another file led to one.
  const passes = daemon
    .lines()
    .filter(({ event, ...line }) => event === 'pass.finished' && of('acme')(line as LogLine));
  expect(passes.map(({ trigger }) => trigger)).toEqual(['startup', 'request', 'request', 'request']);
});
