import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer } from '../wire/scripted-server.ts';
import { addTemplate, describing, startDaemon } from './daemon.ts';
import { workplace } from './program.ts';
import { environment, startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const mebibyte = 1_024 ** 2;

/** A list of the same element over and over. */
const manyOf = (element: string, size: number): string =>
  `[${`${element},`.repeat(size / (element.length + 1))}${element}]`;

/** What no service sends, and what each says of itself. */
const answers: [what: string, body: string, said: RegExp][] = [
  ['empty objects', manyOf('{}', 2 * mebibyte), /answer\[0\]\.id is not a whole number: \[\{\},/],
  ['numbers', manyOf('0', 5 * mebibyte), /answer\[0\] is not an object: \[0,/],
  ['lists in lists', '['.repeat(5 * mebibyte), /the answer is not JSON/],
  ['more than there is room for', manyOf('{}', 65 * mebibyte), /larger than 64MiB/],
];

it('unexpected answers fail the pass of their client, and nothing else', async () => {
  const [service, cwd] = [await startService(), await workplace({ withExamples: false })];
  let hostile = '[]';
  const enemy = await scriptedServer((response) => response.end(hostile));
  await addTemplate(service, 'web', '192.0.2.1');
  await writeBelow(cwd, 'templates/web.yaml', describing('web', '192.0.2.1'));
  await writeFile(
    path.join(cwd, 'dns-template-sync.yaml'),
    `clients:\n  good: {baseUrl: '${service.url}'}\n  hostile: {baseUrl: '${enemy.url}'}\n`,
  );
  const { DNS_SYNC_BASE_URL: _, ...tokens } = environment('');
  // What Node.js takes of a container with 768 MiB.
  const env = { ...tokens, NODE_OPTIONS: '--max-old-space-size=384' };
  const daemon = await startDaemon([], { cwd, env });
  // One of each client, whichever is first.
  await daemon.event('pass.finished');
  await daemon.event('pass.finished');
  for (const [what, body, said] of answers) {
    hostile = body;
    const finished = await daemon.pass('hostile');
    expect({ what, ...finished }).toMatchObject({ what, status: 'failed' });
    const report = daemon
      .lines()
      .findLast(({ event, client }) => event === 'pass.finished' && client === 'hostile');
    expect({ what, ...report }).toMatchObject({ what, error: expect.stringMatching(said) });
  }
  expect(await daemon.pass('good')).toMatchObject({ status: 'in-sync' });
});
