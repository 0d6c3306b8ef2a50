import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const variable = `template: standard-web
vars: {web: 192.0.2.1}
records:
  - {type: A, content: "\${web}"}
`;

/** What a person does wrong, and what tells how to put it right. */
it.each<[what: string, args: readonly string[], message: string]>([
  [
    'a file of no template',
    ['validate', 'templates/voise.yaml'],
    'templates/voise.yaml cannot be read: it does not exist',
  ],
  ['a file for a name', ['plan', 'templates/voice.yaml'], 'give the name of a template, not its file'],
  [
    'no plan',
    ['apply', '--yes', '--plan', 'templates/voice.yaml'],
    'is not a report of plan: write one with',
  ],
  [
    'a directory',
    ['plan', '--out', 'templates'],
    '--out: cannot write templates (it is a directory: EISDIR)',
  ],
  ['no history', ['history', 'voic'], 'no template or history is called voic; did you mean `voice`?'],
  ['no subdomain', ['get', 'dns-records', 'x.example.net'], 'there is no subdomain x.example.net'],
  [
    'a misspelled variable',
    ['plan', '--templates', 'more', '--var', 'wbe=192.0.2.2'],
    '--var wbe: no template file uses this variable; did you mean `web`?',
  ],
  [
    'a variable that nothing uses',
    ['apply', '--yes', '--templates', 'more', '--var', 'other=x'],
    '--var other: no template file uses this variable\n',
  ],
  [
    'the same before any service is asked',
    ['validate', '--templates', 'more', '--var', 'wbe=192.0.2.2'],
    '--var wbe: no template file uses',
  ],
  [
    'no directory of templates',
    ['plan', '--format', 'json', '--templates', 'nowhere'],
    'nowhere); `import` makes it',
  ],
])('%s: %j', async (_, args, message) => {
  const cwd = await workplace();
  await writeBelow(cwd, 'more/web.yaml', variable);
  const sandbox = args[0] === 'validate' ? [] : ['--sandbox'];
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

it('a file in place of the state directory of a plan', async () => {
  const cwd = await workplace();
  await writeFile(path.join(cwd, 'file'), '');
  const { env } = await startService();
  const { stderr } = await run(['plan', '--state-dir', 'file'], { cwd, env });
  expect(stderr).toContain('without it: part of its path is not a directory: ENOTDIR; check');
});

it('a variable of a file with errors may be one that they hide', async () => {
  const cwd = await workplace();
  await writeBelow(cwd, 'more/web.yaml', `${variable}  - {type: A\n`);
  const { stdout, stderr } = await run(['validate', '--templates', 'more', '--var', 'wbe=x'], { cwd });
  expect(stderr).toBe('');
  expect(stdout).toContain('[yaml-syntax]');
});

it('a variable of a fragment is used', async () => {
  const cwd = await workplace();
  await writeBelow(cwd, 'more/web.yaml', 'template: standard-web\ninclude: [_web.yaml]\nrecords: []\n');
  await writeBelow(
    cwd,
    'more/_web.yaml',
    `vars: {web: "\${base}.1"}\nrecords:\n  - {type: A, content: "\${web}"}\n`,
  );
  const { code, stdout } = await run(['validate', '--templates', 'more', '--var', 'base=192.0.2'], { cwd });
  expect({ code, stdout }).toEqual({ code: 0, stdout: '1 template file: 0 errors, 0 warnings\n' });
});
