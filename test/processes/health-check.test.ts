import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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

it.each([
  ['fails while no pass can run', 1, [503], 1],
  ['waits briefly for a daemon that has just started', 3, [503, 503, 200], 0],
  ['succeeds at once while passes run', 1, [200], 0],
])('the health check of the image %s', async (_, asked, answers, expected) => {
  const server = await scriptedServer(...answers.map((answer) => status(answer)));
  expect(await healthCheck(new URL(server.url).host)).toBe(expected);
  expect(server.seen.length).toBeGreaterThanOrEqual(asked);
});

it('the health check of the image succeeds for a daemon that listens nowhere', async () => {
  expect(await healthCheck('off')).toBe(0);
});
