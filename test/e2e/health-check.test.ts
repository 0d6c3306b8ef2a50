import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { addTemplate, describing, startDaemon } from './daemon.ts';
import { workplace } from './program.ts';
import { startService } from './service.ts';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';

/** The image's own, as the container's runtime would run it: healthy is 0. */
const healthCheck = async (listen: string): Promise<number> => {
  const dockerfile = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', '');
  const [, list = '[]'] = /^HEALTHCHECK .*CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [command = '', ...args]: string[] = JSON.parse(list);
  const env = { PATH: process.env['PATH'] ?? '', DNS_SYNC_LISTEN: listen };
  return new Promise((resolve) => {
    execFile(command, args, { env }).on('close', (code) => resolve(code ?? -1));
  });
};

it('the health check of the image fails only while no pass can run', async () => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const state = path.join(cwd, 'state');
  await writeBelow(cwd, 'templates/site.yaml', describing('site', '192.0.2.1'));
  await writeFile(state, 'no directory');
  const daemon = await startDaemon([], { cwd, env: service.env });
  const { host } = new URL((await daemon.ask('/livez')).url);
  const unusable = expect.stringContaining('the state directory cannot be used');
  // What nobody could compare is not in sync.
  const uncompared = {
    status: 'failed',
    problems: [{ check: 'no-pass', client: 'default', message: unusable }],
  };

  expect(await daemon.event('pass.finished')).toMatchObject({ status: 'failed', error: unusable });
  expect(await healthCheck(host)).toBe(1);
  expect(await daemon.json('/readyz')).toEqual({ ready: false, reason: unusable });
  expect(await daemon.json('/api/report')).toMatchObject(uncompared);

  await rm(state);
  await mkdir(state);
  expect(await daemon.pass()).toMatchObject({ status: 'in-sync' });
  expect(await daemon.json('/api/report')).toMatchObject({ status: 'in-sync', problems: [] });
  expect(await healthCheck(host)).toBe(0);

  await rm(state, { recursive: true });
  await writeFile(state, 'no directory');
  expect(await daemon.pass()).toMatchObject({ status: 'failed', error: unusable });
  expect(await daemon.json('/readyz')).toEqual({ ready: false, reason: unusable });
  expect(await daemon.json('/api/report')).toMatchObject({
    ...uncompared,
    summary: { templates: 1, inSync: 1 },
  });
});

it('waits briefly for a daemon that has just started', async () => {
  const server = await scriptedServer(status(503), status(503), status(200));
  expect(await healthCheck(new URL(server.url).host)).toBe(0);
  expect(server.seen).toHaveLength(3);
});

it('succeeds for a daemon that listens nowhere', async () => {
  expect(await healthCheck('off')).toBe(0);
});
