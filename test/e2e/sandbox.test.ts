import { describe, expect, it, vi } from 'vitest';
import { get } from '../sandbox/requests.ts';
import { run, start, workplace, type Program } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

const startedAt = async (program: Program): Promise<string> => {
  await program.says('changes by hand at ');
  return /hosting service at (\S+)/.exec(program.output())?.[1] ?? '';
};

describe('sandbox', () => {
  it('prints its address, answers, logs its answers, and ends with 0', async () => {
    const cwd = await workplace({ withExamples: false });
    const program = start(['sandbox', '--listen', '127.0.0.1:0'], { cwd });
    const url = await startedAt(program);
    expect((await get(`${url}/accounts`)).json).toHaveLength(2);
    await program.says('200 GET /api/v1/accounts');
    program.signal('SIGTERM');
    const { code, stderr } = await program.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '200 GET /api/v1/accounts\n' });
  });

  it.each([
    [['--listen', 'somewhere'], '--listen: expected HOST:PORT'],
    [['--listen', '127.0.0.1:65536'], '--listen: expected HOST:PORT'],
    [['--latency', 'slow'], '--latency: expected milliseconds'],
    [['--data', '.'], 'data file'],
  ])('%j ends with 1 and says why', async (args, message) => {
    const cwd = await workplace({ withExamples: false });
    const { code, stderr } = await run(['sandbox', '--listen', '127.0.0.1:0', ...args], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('defect');
  });
});

describe('--sandbox', () => {
  it('shows each command the writes of the previous one, without any settings', async () => {
    const cwd = await workplace();
    expect(await run(['apply', '--sandbox', '--yes'], { cwd })).toMatchObject({ code: 0 });
    const planned = await run(['plan', '--sandbox'], { cwd });
    expect(planned.stdout).toContain('3 surplus, 1 blocked');
    expect(planned.stdout).not.toContain('to add');
    const told = await run(['history', '--sandbox', '--format', 'json'], { cwd });
    expect(JSON.parse(told.stdout)).toHaveLength(6);
    const reset = await run(['plan', '--sandbox', '--reset'], { cwd });
    expect(reset.stdout).toContain('2 to add, 4 to change, 3 surplus, 1 blocked');
    expect((await run(['history', '--sandbox', '--format', 'json'], { cwd })).stdout).toBe('[]\n');
  });
});
