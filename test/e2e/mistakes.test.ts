import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

/** What a person does wrong, and what tells how to put it right. */
it.each<[what: string, args: readonly string[], message: string]>([
  [
    'a file of no template',
    ['validate', 'templates/voise.yaml'],
    'templates/voise.yaml cannot be read: it does not exist',
  ],
  ['a file for a name', ['plan', 'templates/voice.yaml'], 'give the name of a template, not its file'],
  ['an option of no command', ['plan', '--json'], '(see dns-template-sync plan --help)'],
  [
    'no such plan',
    ['apply', '--yes', '--plan', 'p.json'],
    'p.json (it does not exist: ENOENT): write one with',
  ],
  [
    'no plan',
    ['apply', '--yes', '--plan', 'templates/voice.yaml'],
    'is not a report of plan: write one with',
  ],
  ['no directory', ['plan', '--out', 'no/such/file'], 'no/such/file (its directory does not exist: ENOENT)'],
  [
    'a directory',
    ['plan', '--out', 'templates'],
    '--out: cannot write templates (it is a directory: EISDIR)',
  ],
  ['a command of another tool', ['diff'], 'did you mean `dns-template-sync plan`?'],
  ['a short name of a listing', ['get', 'templates'], 'did you mean `dns-template-sync get dns-templates`?'],
  ['no history', ['history', 'voic'], 'no template or history is called voic; did you mean `voice`?'],
  ['no subdomain', ['get', 'dns-records', 'x.example.net'], 'there is no subdomain x.example.net'],
  ['no host name', ['check', 'https://x.example.net'], 'https://x.example.net is not a host name'],
])('%s: %j', async (_, args, message) => {
  const cwd = await workplace();
  const sandbox = ['validate', 'diff'].includes(args[0] ?? '') ? [] : ['--sandbox'];
  const { code, stdout, stderr } = await run([...args, ...sandbox], { cwd });
  expect(code).toBe(1);
  expect(stdout + stderr).toContain(message);
});

it('a file in place of the state directory', async () => {
  const cwd = await workplace();
  await writeFile(path.join(cwd, 'state'), '');
  const { code, stderr } = await run(['plan', '--sandbox'], { cwd });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringContaining('sandbox.json: a file is where its directory should be: EEXIST'),
  });
});

it.each([
  ['maxAdds: 5', 'maxAdds: unknown key; did you mean `limits.maxAdds`?'],
  ['logLevel: debug', 'logLevel: a matter of one run: use --log-level or LOG_LEVEL'],
])('a misplaced setting: %s', async (text, message) => {
  const cwd = await workplace();
  await writeBelow(cwd, 'dns-template-sync.yaml', `${text}\n`);
  expect((await run(['validate'], { cwd })).stderr).toContain(message);
});
