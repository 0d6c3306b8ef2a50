import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

/** What bash offers for the last of these words, where the program is what it asks. */
const offered = async (
  script: string,
  words: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string[]> => {
  const ask = `COMP_WORDS=(dns-template-sync "$@"); COMP_CWORD=$#; COMPREPLY=(); _dns_template_sync; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-c', `${script}\n${ask}`, 'bash', ...words],
    options,
  );
  return stdout.split('\n').filter((line) => line !== '');
};

it.each<[readonly string[], readonly string[]]>([
  [['va'], ['validate']],
  [
    ['get', 'dns'],
    ['dns-templates', 'dns-template', 'dns-records'],
  ],
  [['get', 'dns-records', '--form'], ['--format']],
  [['plan', '--format', 'm'], ['markdown']],
  [
    ['get', 'accounts', '--format', ''],
    ['table', 'json'],
  ],
  [['help', 'va'], ['validate']],
  [['apply', '--config', 'src/mai'], ['src/main.ts']],
  [['completion', 'f'], ['fish']],
  [['apply', '--accept'], ['--accept-loss']],
])('completion in bash of %j', async (words, expected) => {
  const { stdout } = await run(['completion', 'bash'], { cwd: await workplace({ withExamples: false }) });
  expect(await offered(stdout, words)).toEqual(expected);
});

/** A directory with templates, two clients and a hostile name; what bash needs to find the program. */
const withNames = async () => {
  const cwd = await workplace({ withExamples: false });
  await writeBelow(
    cwd,
    'templates/acme/a.yaml',
    'template: acme-web\nrecords: []\n---\ntemplate: acme-mail\nrecords: []\n',
  );
  await writeBelow(cwd, 'templates/acme/bad.yaml', 'template: acme-broken\nrecords: [{type: A}]\n');
  await writeBelow(
    cwd,
    'templates/bakery/b.yaml',
    `template: "$(touch pwned)"\nrecords: []\n---\ntemplate: acme\`touch pwned\`\nrecords: []\n`,
  );
  await writeBelow(
    cwd,
    'clients.yaml',
    'clients:\n  acme: {templates: templates/acme}\n  bakery: {templates: templates/bakery}\n',
  );
  await writeBelow(
    cwd,
    'bin/dns-template-sync',
    `#!/bin/sh\nexec '${process.execPath}' '${built('main.js')}' "$@"\n`,
  );
  await chmod(path.join(cwd, 'bin/dns-template-sync'), 0o755);
  const { stdout: script } = await run(['completion', 'bash'], { cwd });
  const env = { PATH: `${path.join(cwd, 'bin')}:${process.env['PATH']}`, HOME: cwd, TERM: 'dumb' };
  const offers = async (...words: readonly string[]) => (await offered(script, words, { cwd, env })).sort();
  return { cwd, offers };
};

describe('completion of names', () => {
  it('knows the templates of the files, valid or not, and the clients', async () => {
    const { offers } = await withNames();
    const plan = ['plan', '--config', 'clients.yaml'];
    expect(await offers(...plan, 'acme-')).toEqual(['acme-broken', 'acme-mail', 'acme-web']);
    expect(await offers(...plan, '--client', 'bakery', 'a')).toEqual([]);
    expect(await offers(...plan, '--client', '')).toEqual(['acme', 'bakery']);
    expect(await offers('apply', '--templates', 'templates/acme', 'acme-w')).toEqual(['acme-web']);
    expect(await offers('run', '--cl')).toEqual(['--client']);
  });

  it('offers nothing, and says nothing, where the settings cannot be read; no name is ever run', async () => {
    const { cwd, offers } = await withNames();
    await writeBelow(cwd, 'bad.yaml', 'mode: sometimes\n');
    expect(await offers('plan', '--config', 'bad.yaml', 'a')).toEqual([]);
    expect(await offers('plan', '--config', 'clients.yaml', '')).not.toContain('$(touch');
    expect(existsSync(path.join(cwd, 'pwned'))).toBe(false);
  });
});

it('the names need no network, no token and no state', async () => {
  const { cwd } = await withNames();
  const env = { DNS_SYNC_BASE_URL: 'http://127.0.0.1:1/', DNS_SYNC_STATE_DIR: '/dev/null/none' };
  const words = ['complete', 'templates', '--templates', 'templates/acme', '--unknown', 'x', '--help'];
  expect(await run(words, { cwd, env })).toEqual({
    code: 0,
    stdout: 'acme-broken\nacme-mail\nacme-web\n',
    stderr: '',
  });
});

it('completion in zsh and fish names every command', async () => {
  const launch = { cwd: await workplace({ withExamples: false }) };
  for (const shell of ['zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell], launch);
    expect(code).toBe(0);
    for (const command of ['run', 'plan', 'apply', 'validate', 'import', 'history', 'completion'])
      expect(stdout).toContain(command);
  }
});
