import { execFile, spawnSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from '../program.ts';

vi.setConfig({ testTimeout: 60_000 });

/** What a shell needs to find the program. */
const placeFor = async (shell: string) => {
  const cwd = await workplace({ withExamples: false });
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

type Place = Awaited<ReturnType<typeof placeFor>>;

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

const completions: Readonly<Record<string, readonly string[]>> = {
  va: ['validate'],
  'get dns': ['dns-records', 'dns-template', 'dns-templates'],
  'get dns-records --form': ['--format'],
  'plan --format m': ['markdown'],
  'get accounts --format ': ['json', 'table'],
  'help va': ['validate'],
  'completion f': ['fish'],
  'apply --accept': ['--accept-loss'],
  'plan --out no-such-': [],
};

it.each(Object.keys(shells).filter((shell) => shell === 'bash' || isThere(shell)))(
  '%s completes',
  async (shell) => {
    const place = await placeFor(shell);
    const found: Record<string, readonly string[]> = {};
    for (const words of Object.keys(completions))
      found[words] = await shells[shell]!(place, words.split(' '));
    expect(found).toEqual(completions);
  },
);

it.each(['bash', 'zsh', 'fish'])('there is a script for %s', async (shell) => {
  const { code, stdout } = await run(['completion', shell], { cwd: await workplace() });
  expect(code).toBe(0);
  expect(stdout).toMatch(/ complete .*COMP_WORDS|dns-template-sync complete /);
});
