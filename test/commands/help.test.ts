import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { everyRow } from '../../src/settings/table.ts';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer, status } from '../wire/scripted-server.ts';
import { run, start, workplace } from '../program.ts';
import { startService } from '../service.ts';

vi.setConfig({ testTimeout: 60_000 });

const helpOf = async (words: string): Promise<string> => {
  const cwd = await workplace({ withExamples: false });
  const { code, stdout, stderr } = await run([...words.split(' '), '--help'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
};

/** All commands, also those below another one. */
const commands = `run plan apply accept validate import check doctor suspend resume history schema notify
completion sandbox get`
  .split(/\s/)
  .concat(['get accounts', 'get account', 'get databases', 'get dns-templates', 'get dns-template'])
  .concat('get dns-records');

it('who gives no command sees the list of commands, as an error', async () => {
  const cwd = await workplace({ withExamples: false });
  const { stdout: page } = await run(['help'], { cwd });
  expect(await run([], { cwd })).toMatchObject({ code: 1, stdout: '', stderr: page });
});

it.each(commands)('the help of %s has what it does, options and examples', async (words) => {
  const page = await helpOf(words);
  expect(page).toMatch(/^Usage: dns-template-sync .*\n\n[A-Z][^\n]+/);
  for (const part of ['\nOptions:\n', '\nExamples:\n']) expect(page).toContain(part);
});

it('the help of a command lists its own options, and names the page for the rest', async () => {
  const page = await helpOf('plan');
  expect(page.split('\n').length).toBeLessThan(60);
  for (const own of ['--only', '--base', '--answers', '--format', '--detailed-exitcode'])
    expect(page).toMatch(new RegExp(`^  ${own}\\b.* [a-z]`, 'm'));
  expect(page).toMatch(/^Settings: --config, .*--state-dir,.* run --help/ms);
  expect(page).toContain('.github/docs/settings.md');
  expect(page).not.toContain('DNS_SYNC_');
  expect(await helpOf('run')).toMatch(/^ {2}--state-dir <dir> +directory for the saved state/m);
});

it('an option that is a setting says what the settings say of it, and their default', async () => {
  const page = (await helpOf('run')).replaceAll(/\s+/g, ' ');
  const of = (key: string): string => `--${key.replaceAll(/[A-Z]/g, '-$&').toLowerCase()} `;
  const shown = Object.entries(everyRow).filter(
    ([key]) => page.includes(` ${of(key)}`) && key !== 'logFormat',
  );
  expect(shown.length).toBeGreaterThan(7);
  for (const [key, { about, fallback }] of shown) {
    const words = about.replace(/\.( .*)?$/, '').replace(/^./, (letter) => letter.toLowerCase());
    expect(page).toContain(words);
    if (typeof fallback === 'string' && key !== 'logLevel') expect(page).toContain(`(default: ${fallback})`);
  }
});

const wordsOf = (line: string): string[] =>
  (line.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replaceAll("'", ''));

it.each(commands)('the examples in the help of %s work as they are printed', async (command) => {
  const [, examples = ''] = (await helpOf(command)).split('\nExamples:\n');
  const lines = examples
    .split('\n')
    .filter((line) => /^ {2}dns-template-sync [^>]*$/.test(line))
    .map((line) => line.replace(/ # .*/, ''));
  const service = await startService();
  const receiver = await scriptedServer(status(204));
  const cwd = await workplace();
  await writeBelow(cwd, 'dns-template-sync.yaml', 'notify:\n  ops: {type: webhook, url: {env: HOOK}}\n');
  // Its example data has a conflict that no pass can write.
  await rm(path.join(cwd, 'templates/standard-web.yaml'));
  await writeBelow(cwd, 'templates/acme.yaml', 'template: acme-web\nrecords: []\n');
  await writeBelow(cwd, 'example.net.zone', 'example.net. 3600 IN A 192.0.2.1\n');
  await service.change('add-template', { name: 'acme-web', records: [] });
  const launch = { cwd, env: { ...service.env, HOOK: receiver.url } };
  if (command === 'apply') await run(['plan', '--format', 'json', '--out', 'plan.json'], launch);
  const serves = command === 'run' || command === 'sandbox';
  for (const line of lines) {
    const words = wordsOf(line.trim());
    // The port that it says may be taken.
    const anyPort = serves && !words.includes('--listen') ? ['--listen', '127.0.0.1:0'] : [];
    const program = start([...words, ...anyPort], launch);
    if (command === 'run') await program.event('pass.finished');
    if (command === 'sandbox') await program.says('/api/v1');
    if (serves) program.signal('SIGTERM');
    expect({ line, ...(await program.ended) }).toMatchObject({ line, code: 0 });
  }
});
