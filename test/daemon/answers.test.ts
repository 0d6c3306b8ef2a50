import { readdir, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startZoneServer, type ZoneLine } from '../answers/zone-server.ts';
import { writeBelow } from './ways.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { inSeconds, startDaemon } from './daemon.ts';
import { reportOf, workplace } from '../program.ts';
import { startService } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

const shop = 'shop.example.net';
const www = (address: string): readonly ZoneLine[] => [[`www.${shop}`, 'A', address]];

/** A template with a subdomain that follows it, a name server that answers something else, and settings. */
const prepared = async (settings: string) => {
  const service = await startService();
  const records = [{ type: 'A', name: 'www', content: '192.0.2.2' }];
  const made = (await service.change('add-template', { name: 'site', records })) as { id: number };
  await service.change('set-subdomain', { name: shop, dns_template_id: made.id });
  service.drift((_, all) => all.filter(({ dns_template_record_id: from }) => from !== null));
  const cwd = await workplace({ withExamples: false });
  const file = `template: site\nsubdomains: [${shop}]\nrecords:\n  - {type: A, name: www, content: 192.0.2.2}\n`;
  await writeBelow(cwd, 'templates/site.yaml', file);
  await writeBelow(cwd, 'dns-template-sync.yaml', settings);
  const server = await startZoneServer({ apex: shop, lines: www('192.0.2.9') });
  onTestFinished(() => server.close());
  const launch = { cwd, env: { ...service.env, DNS_SYNC_NAMESERVERS: server.place } };
  return { server, launch, service };
};

it('with answers on the daemon asks name servers after its first pass and on their own schedule, and shows the result everywhere', async () => {
  const told = await scriptedServer(status(204));
  const { launch, server, service } = await prepared(
    `answers: on\nanswersSchedule: '${inSeconds(3)}'\nnotify:\n  ops: {type: webhook, url: {env: HOOK}}\n`,
  );
  const daemon = await startDaemon([], { ...launch, env: { ...launch.env, HOOK: told.url } });
  // The schedule may have asked before that, but a report needs a pass.
  await daemon.event('pass.finished');
  expect(await daemon.event('answers.finished')).toMatchObject({ subdomains: { drifted: 1 } });

  const report = reportOf(await (await daemon.ask('/api/report')).text());
  const differences = [{ kind: 'stale', server: server.place, name: `www.${shop}` }];
  expect(report).toMatchObject({
    status: 'drifted',
    templates: [{ subdomains: [{ answers: { status: 'drifted', differences } }] }],
  });
  const page = await (await daemon.ask('/')).text();
  expect(page).toContain('192.0.2.9');
  const scrape = await daemon.scrape();
  const value = (name: string, labels: Record<string, string> = {}): number | undefined =>
    scrape.value(`dns_template_sync_${name}`, { client: 'default', ...labels });
  expect(value('answers_subdomains', { status: 'drifted' })).toBe(1);
  expect(value('last_answers_timestamp_seconds')).toBeGreaterThan(0);

  // A pass knows of it, and neither writes for it nor takes it for news.
  await daemon.pass();
  server.zone.lines = www('192.0.2.2');
  await daemon.event('answers.finished', (line) =>
    JSON.stringify(line['subdomains']).includes('"in-sync":1'),
  );
  expect(reportOf(await (await daemon.ask('/api/report')).text()).status).toBe('in-sync');
  expect(service.writes()).toEqual([]);
  await vi.waitFor(
    () => expect(daemon.lines().filter(({ event }) => event === 'notify.delivered')).toHaveLength(2),
    { timeout: 20_000 },
  );
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const events = told.seen.flatMap(({ body }) =>
    JSON.parse(body).changes.map(
      ({ template, event }: { template: string; event: string }) => `${template} ${event}`,
    ),
  );
  expect(events).toEqual(['site drift', 'site cleared']);
});

it('with answers on it runs its passes while a server is silent, and ends at once', async () => {
  const { launch, server } = await prepared('answers: on\n');
  server.hush();
  const daemon = await startDaemon([], launch);
  await server.asked();
  await daemon.pass();
  expect(daemon.lines().map(({ event }) => event)).not.toContain('answers.finished');
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(daemon.lines().map(({ event }) => event)).not.toContain('answers.finished');
});

it('what name servers answer does not say that passes work again', async () => {
  const told = await scriptedServer(status(204));
  const { launch } = await prepared(
    `answers: on\nanswersSchedule: '${inSeconds(4)}'\nnotify:\n  ops: {type: webhook, url: {env: HOOK}}\n`,
  );
  const daemon = await startDaemon([], { ...launch, env: { ...launch.env, HOOK: told.url } });
  await daemon.event('answers.finished');
  // From now on the lock cannot be taken.
  const state = path.join(launch.cwd, 'state');
  const lock = (await readdir(state)).find((name) => /^name-.*\.db$/.test(name)) ?? '';
  await rm(path.join(state, lock));
  await symlink('nowhere', path.join(state, lock));
  expect(await daemon.pass()).toMatchObject({ status: 'failed' });
  await daemon.event('answers.finished');
  expect(await daemon.pass()).toMatchObject({ status: 'failed' });
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  const events = told.seen.flatMap(({ body }) =>
    JSON.parse(body).changes.map(({ event }: { event: string }) => event),
  );
  expect(events).toEqual(['drift', 'failed']);
});

it('with answers off it asks nobody', async () => {
  const { launch, server } = await prepared('answers: off\n');
  const daemon = await startDaemon([], launch);
  await daemon.event('pass.finished');
  await daemon.pass();
  daemon.signal('SIGTERM');
  expect((await daemon.ended).code).toBe(0);
  expect(server.questions).toEqual([]);
  expect(daemon.output()).not.toContain('answers.finished');
});
