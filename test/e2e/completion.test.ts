import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { run, workplace } from './program.ts';

/** What bash offers for the last of these words. */
const offered = async (...words: readonly string[]): Promise<string[]> => {
  const { code, stdout } = await run(['completion', 'bash'], {
    cwd: await workplace({ withExamples: false }),
  });
  expect(code).toBe(0);
  const ask = `COMP_WORDS=(dns-template-sync "$@"); COMP_CWORD=$#; COMPREPLY=(); _dns_template_sync; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${stdout}\n${ask}`, 'bash', ...words], { encoding: 'utf8' })
    .trim()
    .split('\n');
};

describe('completion in bash', () => {
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
  ])('of %j', async (words, expected) => {
    expect(await offered(...words)).toEqual(expected);
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
