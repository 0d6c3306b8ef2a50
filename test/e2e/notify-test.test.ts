import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { notificationSchema } from '../../src/notify/schema.ts';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { run, workplace } from './program.ts';

const place = async (answer: number) => {
  const server = await scriptedServer(status(answer));
  const cwd = await workplace({ withExamples: false });
  await writeBelow(
    cwd,
    'dns-template-sync.yaml',
    'publicUrl: https://dns.example.net\nnotify:\n  ops: {type: webhook, url: {env: HOOK}, after: 10m}\n',
  );
  return { server, launch: { cwd, env: { HOOK: `${server.url}/hook-path` } } };
};

it('notify --test sends each receiver a test message', async () => {
  const { server, launch } = await place(204);
  expect(await run(['notify', '--test', '--config', 'dns-template-sync.yaml'], launch)).toEqual({
    code: 0,
    stdout: 'ops: delivered\n',
    stderr: '',
  });
  expect(server.seen).toHaveLength(1);
  const { changes } = notificationSchema.parse(JSON.parse(server.seen[0]!.body));
  expect(changes).toMatchObject([
    { message: expect.stringContaining('this is a test'), link: 'https://dns.example.net/' },
  ]);
});

it('notify --test says why a receiver refuses, without its address', async () => {
  const { launch } = await place(403);
  const { code, stdout } = await run(['notify', '--test', 'ops'], launch);
  expect(code).toBe(1);
  expect(stdout).toBe('ops: not delivered: the receiver answered 403\n');
});

it('notify suggests the receiver that was meant', async () => {
  const { launch } = await place(204);
  expect(await run(['notify', '--test', 'obs'], launch)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no receiver obs; did you mean `ops`?'),
  });
});

it('certificates that cannot be read concern those alone who send messages', async () => {
  const { server, launch } = await place(204);
  await appendFile(path.join(launch.cwd, 'dns-template-sync.yaml'), 'ca: none.pem\n');
  await writeBelow(launch.cwd, 'templates/web.yaml', 'template: web\nrecords: []\n');
  expect(await run(['validate'], launch)).toMatchObject({ code: 0 });
  const { code, stdout } = await run(['notify', '--test'], launch);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ops: not delivered: .*:5.*: cannot read certificates from .*none\.pem/);
  expect(server.seen).toEqual([]);
});
