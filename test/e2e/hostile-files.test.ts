import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

const token = 'correct-horse-battery-staple-and-more-so-that-no-message-quotes-it-whole';
const unknown = 'tr0ub4dor-and-3-more-words-that-nobody-told-the-program';
const formats = ['text', 'json', 'github'];

/** A checkout into which somebody else may have put anything, and a token beside it. */
const checkout = async () => {
  const cwd = await workplace({ withExamples: false });
  const at = (...names: readonly string[]): string => path.join(cwd, ...names);
  await mkdir(at('templates'));
  await writeFile(at('token'), `${token}\n`);
  return { cwd, at, env: { DNS_SYNC_USER_TOKEN_FILE: at('token') } };
};

describe('a token never appears in the result of validate', () => {
  it.each(formats)('through a link in the templates directory, as %s', async (format) => {
    const { cwd, at, env } = await checkout();
    await symlink('../token', at('templates/a.yaml'));
    const { code, stdout, stderr } = await run(['validate', '--format', format], { cwd, env });
    expect(code).toBe(1);
    expect(stdout).toContain('outside');
    expect(stdout + stderr).not.toContain(token.slice(0, 8));
  });

  it.each(formats)('through a settings file that names it as a template, as %s', async (format) => {
    const { cwd, at, env } = await checkout();
    // The program does not know that this one is secret.
    await writeFile(at('other'), `${unknown}\n`);
    await writeFile(at('dns-template-sync.yaml'), 'templates: [token, other]\n');
    const { code, stdout, stderr } = await run(['validate', '--format', format], { cwd, env });
    expect(code).toBe(1);
    expect(stdout.match(/a template is a mapping/g)).toHaveLength(2);
    for (const secret of [token, unknown]) expect(stdout + stderr).not.toContain(secret.slice(0, 8));
  });
});

describe('an endless file is refused at once', () => {
  it('as a settings file', async () => {
    const { cwd, at, env } = await checkout();
    execFileSync('mkfifo', [at('dns-template-sync.yaml')]);
    const ended = await run(['validate'], { cwd, env });
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('dns-template-sync.yaml: cannot read this file');
  });

  it.each(['/dev/zero', 'pipe'])('as a token file: %s', async (file) => {
    const { cwd, at } = await checkout();
    execFileSync('mkfifo', [at('pipe')]);
    const env = { DNS_SYNC_USER_TOKEN_FILE: file, DNS_SYNC_CLIENT_TOKEN: 'client-token' };
    const ended = await run(['plan', '--base-url', 'https://panel.example.net'], { cwd, env });
    expect(ended.code).toBe(1);
    expect(ended.stderr).toContain('(it is not a regular file)');
  });
});
