import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { blocksOf } from '../documents/documents.ts';
import { runProcess, startProcess } from '../process.ts';
import { workplace } from '../program.ts';
import { startService } from '../service.ts';
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
  it('saves its state there, and shows its writes', async () => {
    const { cwd, program, place } = await newPlace();
    const applied = await program('apply --yes');
    expect(applied.code).toBe(0);
    expect(applied.stderr).toContain(`no saved state for this client yet in ${place}`);
    const again = await program('apply --yes');
    expect(again.stdout).not.toContain('applied');
    expect(again.stderr).toBe('');
    expect((await program('history')).stdout.split('\n').length).toBeGreaterThan(3);
    expect(readdirSync(cwd)).not.toContain('state');
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
});
