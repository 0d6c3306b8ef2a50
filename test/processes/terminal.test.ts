import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { startOnTerminal } from '../process.ts';
import { start, workplace, type Launch, type Program } from '../program.ts';
import { startHoldingService, startService } from '../service.ts';

vi.setConfig({ testTimeout: 30_000 });

const question = 'Write this to the service? [y/N]';
const ctrlC = '\u0003';
const escape = '\u001B[';

/** In this process; what only a real terminal shows is below, under a real one. */
const startAtTerminal = (args: readonly string[], launch: Launch): Program =>
  start(args, { ...launch, isTerminal: true });

describe('apply on a terminal', () => {
  it.each([
    ['y\n', 0, '1 applied'],
    [ctrlC, 1, 'nothing was written'],
  ])('asks so on a real one: at %j it ends with %i', async (answer, expected, said) => {
    const service = await startService();
    const program = startOnTerminal(['apply', 'voice'], { cwd: await workplace(), env: service.env });
    await program.says(question);
    program.type(answer);
    expect(await program.ended).toMatchObject({ code: expected, stdout: expect.stringContaining(said) });
  });

  it('writes nothing that the plan did not show', async () => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const program = startAtTerminal(['apply', 'voice'], launch);
    await program.says(question);
    await service.change('edit-record', { record_id: 310, content: '198.51.100.66' });
    program.type('y\n');
    const { code, stdout } = await program.ended;
    expect(code).toBe(1);
    expect(stdout).toContain('the plan is no longer the one that was shown; nothing was written');
    expect(service.writes()).toEqual([]);
  });
});

describe('progress on a terminal', () => {
  const cleared = `\r${escape}K`;

  it.each([
    [['plan', 'voice'], 'comparing …'],
    [['check', 'acme.example'], 'checking acme.example …'],
  ])('%j says what it does, and clears that before its result', async (args, doing) => {
    const { service, release } = await startHoldingService(() => true);
    const program = startAtTerminal(args, { cwd: await workplace(), env: service.env });
    await program.says(`${cleared}${doing} 1 s`);
    release();
    const { stdout } = await program.ended;
    expect(stdout.slice(stdout.lastIndexOf(doing))).toMatch(/^.* … \d+ s\r.\[K[^\r]/);
  });
});

it('colour is used on a terminal, and not with NO_COLOR or in a file', async () => {
  const service = await startService();
  const cwd = await workplace();
  const env = { ...service.env, TERM: 'xterm' };
  const shown = async (more: Readonly<Record<string, string>>): Promise<string> =>
    (await startOnTerminal(['plan', 'voice'], { cwd, env: { ...env, ...more } }).ended).stdout;
  expect(await shown({})).toContain(escape);
  expect(await shown({ NO_COLOR: '1' })).not.toContain(escape);
  await startAtTerminal(['plan', 'voice', '--out', 'report.txt'], { cwd, env }).ended;
  expect(await readFile(path.join(cwd, 'report.txt'), 'utf8')).not.toContain(escape);
});
