import { describe, expect, it, vi } from 'vitest';
import { reportSchema } from '../../src/report/report.ts';
import { status } from '../wire/scripted-server.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, startDaemon, triggerToken } from './daemon.ts';
import { run, workplace } from './program.ts';
import { clientToken, startService, userToken, type Meddling } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const metric = (name: string): string => `dns_template_sync_${name}`;

/** The daemon after its first pass, on one template `site` that is in sync. */
const started = async (meddle: Meddling = () => null) => {
  const service = await startService(meddle);
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (address: string): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address));
  await edit('192.0.2.1');
  const daemon = await startDaemon([], { cwd, env: service.env });
  await daemon.event('pass.finished');
  return { service, cwd, edit, daemon, contents: () => contentsOf(service, id) };
};

describe('/metrics of the running program', () => {
  it('show the results of its passes', async () => {
    let answer: ReturnType<Meddling> = null;
    const { service, edit, daemon } = await started(({ method }) => (method === 'PUT' ? answer : null));
    const first = await daemon.scrape();
    expect(first.types.get('process_cpu_seconds_total')).toBe('counter');
    expect(first.value(metric('passes_total'), { trigger: 'startup', result: 'in-sync' })).toBe(1);
    expect(first.value(metric('records'), { client: 'default', template: 'site', state: 'in_sync' })).toBe(1);
    expect(first.value(metric('requests_total'), { operation: 'list-dns-templates', status: '200' })).toBe(
      service.seen.length,
    );

    await edit('192.0.2.2');
    await daemon.event('pass.finished');
    answer = status(500);
    await edit('192.0.2.3');
    await daemon.event('change.unknown');
    await daemon.event('pass.finished');
    const { value } = await daemon.scrape();
    expect(value(metric('changes_total'), { action: 'update', outcome: 'applied' })).toBe(1);
    expect(value(metric('changes_total'), { action: 'update', outcome: 'unknown' })).toBe(1);
    expect(value(metric('template_status'), { template: 'site', status: 'failed' })).toBe(1);
    expect(value(metric('records'), { template: 'site', state: 'update' })).toBe(1);
    expect(value(metric('passes_total'), { trigger: 'file-change', result: 'failed' })).toBe(1);
    const isStale =
      value(metric('last_success_timestamp_seconds'))! < value(metric('last_pass_timestamp_seconds'))!;
    expect(isStale).toBe(true);
  });
});

describe('the API of the running program', () => {
  it('gives the newest state, the same as plan', async () => {
    const { cwd, service, edit, daemon } = await started();
    const report = reportSchema.parse(await daemon.json('/api/report'));
    expect(report).toMatchObject({ trigger: 'startup', dryRun: false, status: 'in-sync' });
    const planned = await run(['plan', '--format', 'json'], { cwd, env: service.env });
    expect(reportSchema.parse(JSON.parse(planned.stdout)).templates).toEqual(report.templates);
    await edit('192.0.2.2');
    const { run: newest } = await daemon.event('pass.finished');
    expect(reportSchema.parse(await daemon.json('/api/report'))).toMatchObject({
      run: newest,
      templates: [{ differences: [{ action: 'update', cause: 'edited', outcome: 'applied' }] }],
    });
  });

  it('gives the history like the command, with filters', async () => {
    const { cwd, service, edit, daemon } = await started();
    expect(await daemon.json('/api/history')).toEqual([]);
    for (const address of ['192.0.2.2', '192.0.2.3']) {
      await edit(address);
      await daemon.event('pass.finished');
    }
    const all = await daemon.json('/api/history');
    expect(all).toMatchObject([
      { client: 'default', template: 'site', action: 'update', after: { content: '192.0.2.2' } },
      { client: 'default', template: 'site', outcome: 'applied', after: { content: '192.0.2.3' } },
    ]);
    const printed = await run(['history', '--format', 'json'], { cwd, env: service.env });
    expect(JSON.parse(printed.stdout)).toEqual(all);
    expect(await daemon.json('/api/history?template=site&since=1h&outcome=applied')).toEqual(all);
    for (const filter of ['template=other', 'outcome=failed', 'since=2126-01-01T00:00:00Z'])
      expect(await daemon.json(`/api/history?${filter}`)).toEqual([]);
  });

  it('counts and logs requests without the trigger token', async () => {
    const { daemon } = await started();
    const post = (headers: Record<string, string>): Promise<Response> =>
      daemon.ask('/api/reconcile', { method: 'POST', headers });
    expect((await post({ authorization: 'Bearer a guess of somebody' })).status).toBe(401);
    const line = await daemon.event('request.refused');
    expect(line).toMatchObject({ level: 'warn', token: 'trigger', reason: 'wrong', address: '127.0.0.1' });
    expect((await post({})).status).toBe(401);
    const { value } = await daemon.scrape();
    expect(value(metric('refused_requests_total'), { token: 'trigger', reason: 'wrong' })).toBe(1);
    expect(value(metric('refused_requests_total'), { token: 'trigger', reason: 'missing' })).toBe(1);
    expect(value(metric('refused_requests_total'), { token: 'page', reason: 'wrong' })).toBe(0);
    expect(daemon.output()).not.toContain('a guess of somebody');
  });

  it('shows no secret, for any request', async () => {
    const { edit, daemon } = await started(({ method, query, body }) =>
      method === 'PUT' ? status(422, `not for ${decodeURIComponent(`${query} ${body}`)}`) : null,
    );
    await edit('192.0.2.2');
    await daemon.event('change.failed');
    await daemon.event('pass.finished');
    const shown = await Promise.all(
      ['/', '/metrics', '/readyz', '/api/report', '/api/history', '/api/history?since=x'].map(async (path) =>
        (await daemon.ask(path)).text(),
      ),
    );
    daemon.signal('SIGTERM');
    const { stdout, stderr } = await daemon.ended;
    const texts = [...shown, stdout, stderr];
    for (const secret of [userToken, clientToken, triggerToken])
      for (const spelling of [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)])
        expect(texts.filter((text) => text.includes(spelling))).toEqual([]);
  });
});

describe('a page token', () => {
  const pageToken = 'the page token/1+"';
  const at = async (listen: string, env: Record<string, string> = {}) => {
    const service = await startService();
    return startDaemon(['--listen', listen], {
      cwd: await workplace(),
      env: { ...service.env, ...env },
    });
  };

  it('protects page, API and events, and is shown nowhere; probes and metrics need none', async () => {
    const daemon = await at('127.0.0.1:0', { DNS_SYNC_PAGE_TOKEN: pageToken });
    await daemon.event('pass.finished');
    const headers = { authorization: `Bearer ${pageToken}` };
    const texts: string[] = [];
    for (const path of ['/', '/api/report', '/api/history']) {
      const refused = await daemon.ask(path);
      const answered = await daemon.ask(path, { headers });
      expect([path, refused.status, answered.status]).toEqual([path, 401, 200]);
      texts.push(await refused.text(), await answered.text());
    }
    expect((await daemon.ask('/events')).status).toBe(401);
    for (const path of ['/livez', '/readyz', '/healthz', '/metrics']) {
      const answer = await daemon.ask(path);
      expect([path, answer.status]).toEqual([path, 200]);
      texts.push(await answer.text());
    }
    const form = {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ token: pageToken }),
      redirect: 'manual',
    } as const;
    const signedIn = await daemon.ask('/sign-in', form);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await daemon.ask('/', { headers: { cookie } })).status).toBe(200);
    for (const text of [...texts, cookie, daemon.output()])
      for (const spelling of [
        pageToken,
        encodeURIComponent(pageToken),
        JSON.stringify(pageToken).slice(1, -1),
      ])
        expect(text).not.toContain(spelling);
  });

  it('is recommended by a warning if other machines reach the page', async () => {
    const open = await at('0.0.0.0:0');
    const warning = open.lines().find(({ event }) => event === 'listen.open');
    expect(warning).toMatchObject({ level: 'warn', msg: expect.stringContaining('set pageToken') });
    for (const daemon of [await at('0.0.0.0:0', { DNS_SYNC_PAGE_TOKEN: pageToken }), await at('127.0.0.1:0')])
      expect(daemon.lines().filter(({ event }) => event === 'listen.open')).toEqual([]);
  });
});
