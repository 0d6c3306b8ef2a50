import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { get, put } from '../sandbox/requests.ts';
import { run, start, workplace, type Program } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

const startedAt = async (program: Program): Promise<string> => {
  await program.says('changes by hand at ');
  return /hosting service at (\S+)/.exec(program.output())?.[1] ?? '';
};

const addRecord = (url: string) =>
  put(`${url}/dns_templates/23/add_record`, { type: 'A', name: 'new', content: '203.0.113.99' });
const redirects = async (url: string): Promise<unknown[]> => {
  const { json } = await get(`${url}/dns_templates`);
  return json.find(({ id }: { id: number }) => id === 23).dns_template_records;
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

  it('keeps its data in a file of its own over a restart, until --reset', async () => {
    const cwd = await workplace({ withExamples: false });
    const args = ['sandbox', '--listen', '127.0.0.1:0', '--data', 'data.json'];
    const countAfter = async (extra: string[], change?: (url: string) => Promise<unknown>) => {
      const program = start([...args, ...extra], { cwd });
      const url = await startedAt(program);
      await change?.(url);
      const { length } = await redirects(url);
      program.signal('SIGINT');
      expect(await program.ended).toMatchObject({ code: 0 });
      return length;
    };
    expect(await countAfter([], addRecord)).toBe(4);
    expect((await stat(path.join(cwd, 'data.json'))).mode & 0o777).toBe(0o600);
    expect(await countAfter([])).toBe(4);
    expect(await countAfter(['--reset'])).toBe(3);
    expect(await countAfter([])).toBe(3);
  });

  it('loses everything without a file', async () => {
    const cwd = await workplace({ withExamples: false });
    for (const _ of [1, 2]) {
      const program = start(['sandbox', '--listen', '127.0.0.1:0'], { cwd });
      const url = await startedAt(program);
      expect(await redirects(url)).toHaveLength(3);
      await addRecord(url);
      program.signal('SIGTERM');
      await program.ended;
    }
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

  it('reports a port in use, and damaged data', async () => {
    const cwd = await workplace({ withExamples: false });
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const address = other.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const taken = await run(['sandbox', '--listen', `127.0.0.1:${port}`], { cwd });
    expect(taken).toMatchObject({ code: 1, stderr: expect.stringContaining('EADDRINUSE') });
    await writeFile(path.join(cwd, 'data.json'), '{');
    const damaged = await run(['sandbox', '--listen', '127.0.0.1:0', '--data', 'data.json'], { cwd });
    expect(damaged).toMatchObject({ code: 1, stderr: expect.stringContaining('is damaged') });
    expect(await readFile(path.join(cwd, 'data.json'), 'utf8')).toBe('{');
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
