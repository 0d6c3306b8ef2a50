import { describe, expect, it, vi } from 'vitest';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { writeBelow } from '../daemon/ways.ts';
import { lines, prepared, shop, stale } from './answered.ts';
import { inSeconds, startDaemon } from './daemon.ts';
import { reportOf } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('the daemon, with answers on', () => {
  it('asks name servers after its first pass and on their own schedule, and shows the result everywhere', async () => {
    const { launch, server, service, cwd } = await prepared(stale);
    const told = await scriptedServer(status(204));
    await writeBelow(
      cwd,
      'dns-template-sync.yaml',
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
    server.zone.lines = lines;
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

  it('runs its passes while a server is silent, and ends at once', async () => {
    const { launch, server } = await prepared(lines, 'answers: on');
    server.hush();
    const daemon = await startDaemon([], launch);
    await server.asked();
    await daemon.pass();
    expect(daemon.lines().map(({ event }) => event)).not.toContain('answers.finished');
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(daemon.lines().map(({ event }) => event)).not.toContain('answers.finished');
  });

  it('asks nobody if they are off', async () => {
    const { launch, server } = await prepared(stale);
    const daemon = await startDaemon([], launch);
    await daemon.event('pass.finished');
    await daemon.pass();
    daemon.signal('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    expect(server.questions).toEqual([]);
    expect(daemon.output()).not.toContain('answers.finished');
  });
});
