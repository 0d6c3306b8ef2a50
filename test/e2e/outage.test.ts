import path from 'node:path';
import { writeFile, mkdir } from 'node:fs/promises';
import { describe, expect, it, vi } from 'vitest';
import { addTemplate, describing, startDaemon } from './daemon.ts';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A service that can be taken away, with three templates of which `second` is not as its file says. */
const place = async () => {
  let isAway = false;
  const service = await startService(() =>
    isAway ? (response) => response.writeHead(500).end('away for a while') : null,
  );
  const cwd = await workplace({ withExamples: false });
  await mkdir(path.join(cwd, 'templates'));
  for (const name of ['first', 'second', 'third']) {
    await addTemplate(service, name, '192.0.2.1');
    const address = name === 'second' ? '192.0.2.2' : '192.0.2.1';
    await writeFile(path.join(cwd, `templates/${name}.yaml`), describing(name, address, 'mode: report\n'));
  }
  return { launch: { cwd, env: service.env }, takeAway: () => void (isAway = true) };
};

describe('a service that is down', () => {
  it('is reported once in a plan', async () => {
    const { launch, takeAway } = await place();
    takeAway();
    const { code, stdout } = await run(['plan'], launch);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ').split('away for a while')).toHaveLength(2);
    expect(stdout).toContain('✗ 3 templates not compared: ');
    expect(stdout).toContain('first, second, third');
  });
});

describe('the log', () => {
  it('has no line for a template in sync', async () => {
    const { launch } = await place();
    const daemon = await startDaemon([], launch);
    await daemon.event('pass.finished');
    const told = daemon.lines().filter(({ event }) => event === 'drift.report');
    expect(told.map(({ template }) => template)).toEqual(['second']);
  });
});
