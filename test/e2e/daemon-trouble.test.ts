import { execFileSync } from 'node:child_process';
import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, describing, startDaemon, type Daemon } from './daemon.ts';
import { workplace, type LogLine } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const isAfterEdit = ({ trigger }: LogLine): boolean => trigger === 'file-change';

/** The daemon after its first pass, on one template `site` that is in sync. */
const started = async () => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const at = (...names: readonly string[]): string => path.join(cwd, ...names);
  const edit = (address: string): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address));
  await edit('192.0.2.1');
  let passed = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + passed };
  /** Half a minute goes by on its clock. */
  const later = (): void => void (passed += 30_000);
  const daemon = await startDaemon([], { cwd, env: service.env, clock });
  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'in-sync' });
  return { service, cwd, at, edit, daemon, contents: () => contentsOf(service, id), later };
};

const isAlive = async (daemon: Daemon): Promise<boolean> => (await daemon.ask('/livez')).ok;

describe('an entry among the templates', () => {
  it('that is not a file blocks neither the other templates nor the daemon', async () => {
    const { at, edit, daemon, contents } = await started();
    execFileSync('mkfifo', [at('templates/pipe.yaml')]);
    const server = createServer().listen(at('templates/socket.yaml'));
    onTestFinished(() => void server.close());
    await symlink('/dev/zero', at('templates/zero.yaml'));
    await symlink('circle.yaml', at('templates/circle.yaml'));
    await symlink('..', at('templates/up'));
    await edit('192.0.2.2');
    await daemon.event('change.applied');
    expect(await daemon.pass()).toMatchObject({ status: 'failed', summary: { failedTemplates: 0 } });
    expect(await contents()).toEqual(['192.0.2.2']);
    for (const name of ['pipe', 'socket', 'circle'])
      expect(daemon.output()).toContain(`templates/${name}.yaml cannot be read`);
    for (const name of ['zero.yaml', 'up'])
      expect(daemon.output()).toContain(`templates/${name} is not read: it leads out`);
    expect(await isAlive(daemon)).toBe(true);
  });

  it('that is far too large is refused, and the others go on', async () => {
    const { at, edit, daemon, contents, later } = await started();
    await writeFile(at('templates/large.yaml'), Buffer.alloc(50_000_000, '- x\n'));
    await edit('192.0.2.2');
    await daemon.event('change.applied');
    expect(await contents()).toEqual(['192.0.2.2']);
    // What has just been changed may still be on its way.
    later();
    const { problems } = await daemon.event('templates.invalid');
    expect(JSON.stringify(problems)).toContain('the file is larger than 16 MiB: move records to fragments');
    expect(await isAlive(daemon)).toBe(true);
  });
});

describe('a templates directory', () => {
  it('that becomes unreadable holds its templates until it is readable', async () => {
    const { service, at, daemon, contents } = await started();
    await rename(at('templates'), at('elsewhere'));
    await symlink('templates', at('templates'));
    expect(await daemon.event('pass.finished', isAfterEdit)).toMatchObject({ summary: { heldTemplates: 1 } });
    expect(service.writes()).toEqual([]);
    expect(await isAlive(daemon)).toBe(true);
    await rm(at('templates'));
    await rename(at('elsewhere'), at('templates'));
    await writeFile(at('templates/site.yaml'), describing('site', '192.0.2.2'));
    await daemon.event('change.applied');
    expect(await contents()).toEqual(['192.0.2.2']);
  });
});
