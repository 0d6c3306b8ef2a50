import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/index.ts';
import type { Settings, SyncEvent } from '../../src/library/types.ts';
import { fileRows } from '../../src/settings/table.ts';
import { edit, workplace } from '../program.ts';
import { clientToken, startHoldingService, startService, userToken } from '../service.ts';

const settingsFor = async (baseUrl: string): Promise<Settings> => {
  const cwd = await workplace();
  return {
    baseUrl,
    userToken,
    clientToken,
    templates: path.join(cwd, 'templates'),
    stateDir: path.join(cwd, 'state'),
    settle: '0s',
  };
};

describe('the settings of a program', () => {
  it('have the keys of the config file', async () => {
    const types = await readFile('src/library/types.ts', 'utf8');
    const isThere = (key: string): boolean =>
      types.includes(`'${key}'`) || types.includes(`readonly ${key}?:`);
    expect(Object.keys(fileRows).filter((key) => !isThere(key))).toEqual([]);
  });

  it('are all checked at the first call, which says what is wrong without a secret', async () => {
    // A program without types may give anything.
    const settings: Settings = JSON.parse(
      '{"userToken": "a secret ", "settle": "soon", "clients": {"acme": {"clientToken": {"env": "NO_SUCH_VARIABLE"}, "schedul": "* * * * *"}}}',
    );
    const dns = connect(settings);
    const planned = await dns.plan();
    expect(planned).toMatchObject({ ok: false, error: { kind: 'settings' } });
    const message = planned.ok ? '' : planned.error.message;
    for (const part of [
      'settle: expected a duration',
      'clients.acme.schedul: unknown key; did you mean `schedule`?',
      'clients.acme.baseUrl: required',
      'clients.acme.stateDir: required: the directory of the saved state',
      'userToken: the secret is not one line',
      'clients.acme.clientToken: the environment variable NO_SUCH_VARIABLE is not set',
    ])
      expect(message).toContain(part);
    expect(message).not.toContain('a secret');
    await dns.close();
  });

  it('name a file and a variable for a token, each read by its own place', async () => {
    const service = await startService();
    const settings = await settingsFor(service.url);
    const file = path.join(path.dirname(String(settings.stateDir)), 'token');
    await writeFile(file, `${clientToken}\n`);
    process.env['OF_THE_LIBRARY'] = userToken;
    await using dns = connect(
      {
        ...settings,
        userToken: { env: 'OF_THE_LIBRARY' },
        clientToken: { file: 'token' },
      },
      { cwd: path.dirname(file) },
    );
    expect(await dns.plan()).toMatchObject({ ok: true, report: { status: 'drifted' } });
    await writeFile(file, '');
    const planned = await dns.plan();
    expect(planned).toMatchObject({ ok: false, error: { kind: 'environment' } });
    delete process.env['OF_THE_LIBRARY'];
  });
});

describe('a connection', () => {
  it('validates without a service, a token or a state', async () => {
    const cwd = await workplace();
    await edit(cwd, 'standard-web.yaml', 'content: ', 'contend: ');
    await using dns = connect({ templates: 'templates' }, { cwd });
    const found = await dns.validate();
    expect(found).toMatchObject({ ok: true, files: 5 });
    expect(found.ok && found.problems.map(({ check, client }) => [check, client])).toContainEqual([
      'unknown-key',
      'default',
    ]);
    expect(await dns.validate({ files: ['templates/mail-only.yaml'] })).toMatchObject({
      ok: true,
      files: 1,
      problems: [],
    });
  });

  it('plans and applies on the embedded service, which keeps its data', async () => {
    const cwd = await workplace();
    const settings = { templates: 'templates', stateDir: 'state' };
    const first = connect(settings, { cwd, sandbox: true });
    const applied = await first.apply();
    await first.close();
    // The example data has a conflict that no pass can write.
    expect(applied).toMatchObject({
      ok: true,
      report: { dryRun: false, summary: { applied: 6, blocked: 1 } },
    });
    await using again = connect(settings, { cwd, sandbox: true });
    const planned = await again.plan({ answers: true });
    expect(planned).toMatchObject({ ok: true, report: { dryRun: true, summary: { add: 0, update: 0 } } });
    // Its subdomains are on no name server.
    const answers = planned.ok && planned.report.templates.flatMap((one) => one.subdomains)[0]?.answers;
    expect(answers).toMatchObject({ status: 'off' });
  });

  it('says which argument cannot be used, and writes nothing', async () => {
    const service = await startService();
    const settings = await settingsFor(service.url);
    await using dns = connect(settings);
    const errors = [
      await dns.plan({ templates: ['standard-wep'] }),
      await dns.plan({ templates: [clientToken] }),
      await dns.plan({ answers: true, ignoreSubdomains: true }),
      await dns.apply({ force: true }),
      await dns.apply({ lockTimeout: 'long' }),
      await dns.apply({ plan: JSON.parse('{"templates": []}') }),
    ];
    for (const one of errors) expect(one).toMatchObject({ ok: false, error: { kind: 'arguments' } });
    expect(errors[0]).toMatchObject({ error: { message: expect.stringContaining('mean `standard-web`?') } });
    expect(errors[1]).toMatchObject({ error: { message: expect.stringContaining('[secret]') } });
    await using dry = connect({ ...settings, dryRun: true });
    expect(await dry.apply()).toMatchObject({ ok: false, error: { kind: 'settings' } });
    expect(service.writes()).toEqual([]);
  });

  it('refuses options that cannot be meant, as a program without types may give them', async () => {
    const service = await startService();
    const settings = await settingsFor(service.url);
    await using dns = connect(settings);
    for (const [text, message] of [
      ['{"template": ["standard-web"]}', 'template: unknown option; there are: templates, plan'],
      ['{"dryRun": true}', 'dryRun: unknown option; there are: templates, plan, force'],
      [
        '{"templates": []}',
        'templates: expected a list of at least one text; all are meant where it is left',
      ],
      ['{"templates": "standard-web"}', 'templates: expected a list'],
      ['{"templates": ["standard-web"], "force": "false"}', 'force: expected true or false'],
      ['{"signal": {"signal": {"aborted": true}}}', 'signal: expected an AbortSignal'],
      ['{"signal": null}', 'signal: expected an AbortSignal'],
    ] as const)
      expect(await dns.apply(JSON.parse(text))).toMatchObject({
        ok: false,
        error: { kind: 'arguments', message: expect.stringContaining(message) },
      });
    for (const text of ['{"sandBox": true}', '{"onEvent": "change"}']) {
      await using other = connect(settings, JSON.parse(text));
      expect(await other.apply()).toMatchObject({ ok: false, error: { kind: 'arguments' } });
    }
    expect(service.writes()).toEqual([]);
  });

  it('makes one pass after the other', async () => {
    const { service, held, release } = await startHoldingService();
    const settings = await settingsFor(service.url);
    await using dns = connect(settings);
    const first = dns.apply({ templates: ['standard-web'] });
    await held;
    const second = dns.plan({ templates: ['standard-web'] });
    // Meanwhile somebody who waits for nobody makes a whole plan.
    const before = service.seen.length;
    await using other = connect({ ...settings, clientToken: 'of-somebody', stateDir: await workplace() });
    expect(await other.plan()).toMatchObject({ ok: true });
    const asked = service.seen.slice(before);
    expect(asked.filter(({ query }) => !query.includes('of-somebody'))).toEqual([]);
    expect(asked).not.toEqual([]);
    release();
    expect(await first).toMatchObject({ ok: true, report: { summary: { applied: 3 } } });
    expect(await second).toMatchObject({ ok: true, report: { summary: { add: 0, update: 0 } } });
  });

  it('ends a plan at once, and an apply after the write in flight', async () => {
    const reading = await startHoldingService(() => true);
    const dns = connect(await settingsFor(reading.service.url));
    const stop = new AbortController();
    const planned = dns.plan({ signal: stop.signal });
    await reading.held;
    stop.abort();
    expect(await planned).toMatchObject({ ok: false, error: { kind: 'aborted' } });
    expect(await dns.apply({ signal: stop.signal, lockTimeout: '1s' }).finally(reading.release)).toBeTruthy();
    await dns.close();
    expect(reading.service.writes()).toEqual([]);
    expect(await dns.plan()).toMatchObject({ ok: false, error: { kind: 'closed' } });

    const writing = await startHoldingService();
    await using other = connect(await settingsFor(writing.service.url));
    const end = new AbortController();
    const applied = other.apply({ templates: ['standard-web'], signal: end.signal });
    await writing.held;
    end.abort();
    writing.release();
    expect(await applied).toMatchObject({ ok: true, isComplete: false, report: { summary: { applied: 1 } } });
    expect(writing.service.writes()).toHaveLength(1);
  });

  it('tells of each change, without secrets', async () => {
    const service = await startService((request) =>
      request.method === 'GET'
        ? null
        : (response) =>
            void response
              .writeHead(422, { 'content-type': 'application/json' })
              .end(JSON.stringify({ error: `no ${clientToken}` })),
    );
    const all: SyncEvent[] = [];
    await using dns = connect(await settingsFor(service.url), { onEvent: (one) => all.push(one) });
    await dns.apply({ templates: ['standard-web'] });
    const changes = all.filter(({ event }) => event === 'change');
    expect(changes.length).toBeGreaterThan(1);
    expect(changes[0]).toMatchObject({ outcome: 'failed', error: expect.stringContaining('[secret]') });
    expect(JSON.stringify(all)).not.toContain(clientToken);
  });
});
