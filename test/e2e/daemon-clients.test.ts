import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { reportSchema } from '../../src/report-schema.ts';
import { silence, status, type SeenRequest } from '../wire/scripted-server.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, never, startDaemon, triggerToken } from './daemon.ts';
import { workplace } from './program.ts';
import { startService, userToken, type Meddling } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const isOf = (client: string, { query, body }: SeenRequest): boolean =>
  `${query}&${body}`.includes(`client_token=token-of-${client}`);

/** Two clients of one service, each with a template of its own. */
const started = async (meddle: Meddling) => {
  const service = await startService(meddle);
  const cwd = await workplace({ withExamples: false });
  const ids = { acme: 0, bakery: 0 };
  for (const name of ['acme', 'bakery'] as const) {
    ids[name] = await addTemplate(service, `web-of-${name}`, '192.0.2.1');
    await writeBelow(cwd, `${name}/web.yaml`, describing(`web-of-${name}`, '192.0.2.1'));
  }
  const client = (name: string): string =>
    `  ${name}: {templates: ./${name}, clientToken: {env: TOKEN_OF_${name.toUpperCase()}}}\n`;
  await writeFile(
    path.join(cwd, 'dns-template-sync.yaml'),
    `schedule: '${never}'\nclients:\n${client('acme')}${client('bakery')}`,
  );
  const daemon = await startDaemon([], {
    cwd,
    env: {
      DNS_SYNC_BASE_URL: service.url,
      DNS_SYNC_USER_TOKEN: userToken,
      TOKEN_OF_ACME: 'token-of-acme',
      TOKEN_OF_BAKERY: 'token-of-bakery',
      // Where the start of each pass is told.
      LOG_LEVEL: 'debug',
    },
  });
  return { service, cwd, daemon, contents: (name: 'acme' | 'bakery') => contentsOf(service, ids[name]) };
};

describe('a client in trouble', () => {
  it('that is denied does not stop the passes of another, and recovers on request', async () => {
    let isDenied = true;
    const { service, cwd, daemon, contents } = await started((request) =>
      isDenied && isOf('acme', request) ? status(401, 'who are you?') : null,
    );
    await daemon.event('pass.finished', ({ client }) => client === 'bakery');
    for (const address of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) {
      await writeBelow(cwd, 'bakery/web.yaml', describing('web-of-bakery', address));
      await daemon.event('pass.finished', (line) => line['client'] === 'bakery');
      expect(await contents('bakery')).toEqual([address]);
    }
    expect(await daemon.ask('/readyz').then((answer) => answer.status)).toBe(503);
    expect(await daemon.json('/readyz')).toEqual({
      ready: false,
      reason: expect.stringMatching(/^acme: .*401/),
    });
    expect((await daemon.ask('/livez')).status).toBe(200);
    const { templates } = reportSchema.parse(await daemon.json('/api/report'));
    expect(templates).toMatchObject([
      { client: 'acme', status: 'failed' },
      { client: 'bakery', status: 'in-sync' },
    ]);
    const { value } = await daemon.scrape();
    const success = 'dns_template_sync_last_success_timestamp_seconds';
    expect(value(success, { client: 'acme' })).toBe(0);
    expect(value(success, { client: 'bakery' })).toBeGreaterThan(0);

    // One read a pass: after a denial nothing more is asked, but perhaps once with a form.
    const denied = service.seen.filter((request) => isOf('acme', request) && request.body === '');
    const passes = daemon
      .lines()
      .filter(({ event, client }) => event === 'pass.started' && client === 'acme');
    expect(denied).toHaveLength(passes.length);

    isDenied = false;
    expect(await daemon.pass('acme')).toMatchObject({ status: 'in-sync' });
    expect(await daemon.json('/readyz')).toEqual({ ready: true, reason: null });
  });

  it('is asked for alone, by name or pattern, and the answer names the pass', async () => {
    const { daemon } = await started(() => null);
    for (const _ of ['acme', 'bakery']) await daemon.event('pass.finished');
    const ask = async (query: string): Promise<unknown> => {
      const headers = { authorization: `Bearer ${triggerToken}` };
      const answer = await daemon.ask(`/api/reconcile${query}`, { method: 'POST', headers });
      return [answer.status, await answer.json()];
    };
    expect(await ask('?client=caf*')).toEqual([404, { error: 'there is no client caf*' }]);
    for (const query of ['?client=bakery', '?client=bak*']) {
      const [code, body] = z
        .tuple([z.number(), z.object({ passes: z.array(z.looseObject({ run: z.string() })) })])
        .parse(await ask(query));
      expect([code, body]).toEqual([202, { passes: [{ client: 'bakery', run: expect.any(String) }] }]);
      const [asked] = body.passes;
      expect(await daemon.event('pass.finished')).toMatchObject({ client: 'bakery', run: asked?.run });
    }
    expect(await ask('')).toMatchObject([202, { passes: [{ client: 'acme' }, { client: 'bakery' }] }]);
  });

  it('that gets no answer does not make another wait', async () => {
    const { cwd, daemon, contents } = await started((request) => (isOf('acme', request) ? silence : null));
    await daemon.event('pass.finished', ({ client }) => client === 'bakery');
    await writeBelow(cwd, 'bakery/web.yaml', describing('web-of-bakery', '192.0.2.2'));
    await daemon.event('pass.finished', ({ client }) => client === 'bakery');
    expect(await contents('bakery')).toEqual(['192.0.2.2']);
    await daemon.pass('bakery');
    expect((await daemon.scrape()).value('dns_template_sync_queue_depth')).toBe(1);
    expect(
      daemon.lines().filter(({ event, client }) => event === 'pass.finished' && client === 'acme'),
    ).toEqual([]);
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });
});
