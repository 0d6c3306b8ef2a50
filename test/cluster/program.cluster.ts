import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { blocksOf } from '../e2e/documents.ts';
import { runProcess, startProcess } from '../e2e/process.ts';
import { workplace } from '../e2e/program.ts';
import { startService } from '../e2e/service.ts';
import { newDatabaseUrl } from './databases.ts';

const newPlace = async () => {
  const service = await startService();
  const cwd = await workplace();
  const url = new URL(await newDatabaseUrl());
  url.password = 'hidden-password';
  const program = (args: string, store = url.href) =>
    runProcess(args.split(' '), { cwd, env: { ...service.env, DNS_SYNC_STORE: store } });
  return { cwd, service, program, place: `PostgreSQL at ${url.host}${url.pathname}` };
};

describe('the program on PostgreSQL', () => {
  it('saves its state there, and shows its writes and processes', async () => {
    const { cwd, program, place } = await newPlace();
    const none = await program('store status');
    expect(none).toMatchObject({ code: 0, stdout: `${place}: no tables yet\n` });
    expect((await program('store migrate')).stdout).toBe(`${place}: created the tables (schema 7)\n`);
    expect((await program('store migrate')).stdout).toBe(`${place}: the tables are up to date (schema 7)\n`);
    const applied = await program('apply --yes');
    expect(applied.code).toBe(0);
    expect(applied.stderr).toContain(`no saved state for this client yet in ${place}`);
    const again = await program('apply --yes');
    expect(again.stdout).not.toContain('applied');
    expect(again.stderr).toBe('');
    expect((await program('history')).stdout.split('\n').length).toBeGreaterThan(3);
    const { stdout } = await program('store status --format json');
    expect(JSON.parse(stdout)).toEqual({
      place,
      schema: 7,
      replicas: [],
      clients: [
        {
          client: 'default',
          baseUrl: expect.any(String),
          templates: 5,
          openIntents: 0,
          epoch: 2,
          holder: null,
          leaseUntil: null,
        },
      ],
      passes: [],
      pausedServers: [],
    });
    expect(readdirSync(cwd)).not.toContain('state');
  });

  it('moves the state of a state directory there and back', async () => {
    const { program } = await newPlace();
    const file = (args: string) => program(args, '');
    expect((await file('store status')).stderr).toContain('the secret is empty');
    const { cwd, program: other } = await newPlace();
    await other('apply --yes');
    const written = (await other('history')).stdout;
    expect((await other('store copy --to sqlite')).stdout).toContain('moved the state from');
    expect(readdirSync(`${cwd}/state`)).toContain('memory.db');
    expect((await other('history')).stdout).toBe('no writes\n');
    expect((await other('store copy --to postgres')).stdout).toContain('its file is now');
    expect((await other('history')).stdout).toBe(written);
  });

  it('is set up by the commands of the documentation', async () => {
    const [block = ''] = blocksOf('.github/docs/postgres.md');
    const { cwd, service } = await newPlace();
    await runProcess(['apply', '--yes'], { cwd, env: service.env });
    const [, name = ''] = /^export (\w+)=\/run\/secrets\/store /.exec(block) ?? [];
    await writeBelow(cwd, 'store', await newDatabaseUrl());
    const env = { ...service.env, [name]: path.join(cwd, 'store'), DNS_SYNC_LISTEN: 'off' };
    const commands = [...block.matchAll(/^dns-template-sync (.+?)(?: +#.*)?$/gm)].map(
      ([, words = '']) => words,
    );
    expect(commands.pop()).toBe('run');
    for (const words of commands)
      expect(await runProcess(words.split(' '), { cwd, env })).toMatchObject({ code: 0, stderr: '' });
    const daemon = startProcess(['run'], { cwd, env });
    expect(await daemon.event('pass.finished')).toMatchObject({ summary: { applied: 0 } });
    daemon.signal('SIGTERM');
    expect(await daemon.ended).toMatchObject({ code: 0 });
  });

  it('says what is wrong without a database, and shows no password', async () => {
    const { service, program } = await newPlace();
    const away = 'postgres://tester:hidden-password@127.0.0.1:1/state';
    const applied = await program('apply --yes', away);
    expect(applied.code).toBe(1);
    expect(applied.stderr).toContain('the state in PostgreSQL at 127.0.0.1:1/state cannot be used');
    expect(service.writes()).toEqual([]);
    const planned = await program('plan', away);
    expect(planned.code).toBe(0);
    expect(planned.stderr).toContain('planned without saved state');
    for (const { stdout, stderr } of [applied, planned]) expect(stdout + stderr).not.toContain('hidden');
  });

  it('needs a database for the store commands', async () => {
    const cwd = await workplace();
    expect(await runProcess(['store', 'status'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('give DNS_SYNC_STORE=postgres://'),
    });
  });
});
