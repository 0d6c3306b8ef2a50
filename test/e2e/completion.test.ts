import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

/** A directory with templates, two clients and a hostile name; what a shell needs to find the program. */
const withNames = async (shell = 'bash') => {
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
  const { stdout: script } = await run(['completion', shell], { cwd });
  await writeBelow(cwd, 'script', script);
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  return { cwd, env: { PATH, HOME: cwd, TERM: 'dumb' } };
};

type Place = Awaited<ReturnType<typeof withNames>>;

/** What a shell offers for the last of these words. */
const shells: Readonly<
  Record<string, (place: Place, words: readonly string[]) => Promise<readonly string[]>>
> = {
  bash: async ({ cwd, env }, words) => {
    const ask = `. ./script; COMP_WORDS=(dns-template-sync "$@"); COMP_CWORD=$#; COMPREPLY=(); _dns_template_sync; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return split(await promisify(execFile)('bash', ['-c', ask, 'bash', ...words], { cwd, env }));
  },
  // As bashcompinit calls it; what zsh itself lists goes to a terminal.
  zsh: async ({ cwd, env }, words) => {
    const ask = `autoload -U compinit; compinit -u -D; . ./script; ask() { emulate -L sh; setopt kshglob noshglob braceexpand; COMP_WORDS=(dns-template-sync "$@"); COMP_CWORD=$#; COMPREPLY=(); _dns_template_sync; printf '%s\\n' "\${COMPREPLY[@]}" }; ask "$@"`;
    const all = split(await promisify(execFile)('zsh', ['-f', '-c', ask, 'zsh', ...words], { cwd, env }));
    // zsh itself leaves out what does not begin with the word.
    return all.filter((one) => one.startsWith(words.at(-1) ?? ''));
  },
  fish: async ({ cwd, env }, words) => {
    const ask = `source script; complete -C "dns-template-sync ${words.join(' ')}"`;
    const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', ask], { cwd, env });
    return split({ stdout: stdout.replaceAll(/\t.*/g, '') });
  },
};

const split = ({ stdout }: { readonly stdout: string }): string[] =>
  stdout
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .sort();

const isThere = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

describe.each(Object.entries(shells).filter(([shell]) => shell === 'bash' || isThere(shell)))(
  'completion in %s',
  (shell, offers) => {
    it.each<[readonly string[], readonly string[]]>([
      [['va'], ['validate']],
      [
        ['get', 'dns'],
        ['dns-records', 'dns-templates'],
      ],
      [['get', 'dns-records', '--form'], ['--format']],
      [['plan', '--format', 'm'], ['markdown']],
      [
        ['get', 'accounts', '--format', ''],
        ['json', 'table'],
      ],
      [['help', 'va'], ['validate']],
      [['completion', 'f'], ['fish']],
      [['apply', '--accept'], ['--accept-loss']],
      [['plan', '--out', 'no-such-'], []],
    ])('of %j', async (words, expected) => {
      expect(await offers(await withNames(shell), words)).toEqual(expected);
    });

    it('knows the templates of the files, valid or not, and the clients', async () => {
      const place = await withNames(shell);
      const plan = ['plan', '--config', 'clients.yaml'];
      expect(await offers(place, [...plan, 'acme-'])).toEqual(['acme-broken', 'acme-mail', 'acme-web']);
      expect(await offers(place, [...plan, '--client', 'bakery', 'a'])).toEqual([]);
      expect(await offers(place, [...plan, '--client', ''])).toEqual(['acme', 'bakery']);
      expect(await offers(place, ['apply', '--templates', 'templates/acme', 'acme-w'])).toEqual(['acme-web']);
      expect(await offers(place, ['run', '--cl'])).toEqual(['--client']);
    });

    it('offers nothing, and says nothing, where the settings cannot be read; no name is ever run', async () => {
      const place = await withNames(shell);
      await writeBelow(place.cwd, 'bad.yaml', 'mode: sometimes\n');
      expect(await offers(place, ['plan', '--config', 'bad.yaml', 'a'])).toEqual([]);
      expect(await offers(place, ['plan', '--config', 'clients.yaml', ''])).not.toContain('$(touch');
      expect(existsSync(path.join(place.cwd, 'pwned'))).toBe(false);
    });
  },
);

it('the names need no network, no token and no state', async () => {
  const { cwd } = await withNames();
  const env = { DNS_SYNC_BASE_URL: 'http://127.0.0.1:1/', DNS_SYNC_STATE_DIR: '/dev/null/none' };
  const words = ['complete', 'plan', '--templates', 'templates/acme', '--no-config', ''];
  expect(await run(words, { cwd, env })).toEqual({
    code: 0,
    stdout: 'acme-broken\nacme-mail\nacme-web\n',
    stderr: '',
  });
});

it('there is a script for each shell', async () => {
  const launch = { cwd: await workplace({ withExamples: false }) };
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await run(['completion', shell], launch);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/ complete .*COMP_WORDS|dns-template-sync complete /),
    });
  }
});
