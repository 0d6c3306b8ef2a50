import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { write } from '../desired/load-files.ts';
import { commands } from '../report/hostile.ts';
import { run, workplace, type Ended } from './program.ts';

vi.setConfig({ testTimeout: 30_000 });

const files = {
  'good.yaml': 'template: good\nrecords:\n  - {type: A, content: 203.0.113.1}\n',
  'bad.yaml':
    'template: bad\nrecords:\n  - {type: A, content: 203.0.113.256}\n  - {type: MX, content: mx.example.net}\n',
  'odd, really.yaml': 'template: odd\nrecords:\n  - {type: A, content: 203.0.113.1, ttl: 1}\n',
};

/** In a place with these files; no service, no tokens. */
const validate = async (names: readonly (keyof typeof files)[], ...args: string[]): Promise<Ended> => {
  const cwd = await workplace({ withExamples: false });
  const templates = path.join(cwd, 'templates');
  await mkdir(templates);
  await write(templates, Object.fromEntries(names.map((name) => [name, files[name]])));
  return run(['validate', ...args], { cwd });
};

describe('validate', () => {
  it('finds nothing in the examples', async () => {
    expect(await run(['validate', '--strict'], { cwd: await workplace() })).toEqual({
      code: 0,
      stdout: '5 template files: 0 errors, 0 warnings\n',
      stderr: '',
    });
  });

  it('reports every problem of every file, with its position and check', async () => {
    const { code, stdout, stderr } = await validate(['good.yaml', 'bad.yaml', 'odd, really.yaml']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^templates\/bad\.yaml:3:24: error: .* \[bad-ipv4\]$/),
      expect.stringMatching(/^templates\/bad\.yaml:4:5: error: .* \[priority-required\]$/),
      expect.stringMatching(/^templates\/odd, really\.yaml:3:42: warning: .* \[ttl-unusual\]$/),
      '3 template files: 2 errors, 1 warning',
      '',
    ]);
  });

  it('counts warnings as errors only with --strict', async () => {
    expect(await validate(['odd, really.yaml'])).toMatchObject({ code: 0 });
    const strict = await validate(['odd, really.yaml'], '--strict');
    expect(strict).toMatchObject({ code: 1, stdout: expect.stringContaining(': error: ') });
  });

  it('lists the same as JSON', async () => {
    const { code, stdout } = await validate(['bad.yaml'], '--format', 'json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      problems: [
        {
          severity: 'error',
          check: 'bad-ipv4',
          message: expect.any(String),
          client: 'default',
          file: 'templates/bad.yaml',
          line: 3,
          column: 24,
        },
        { check: 'priority-required', line: 4, column: 5 },
      ],
    });
  });

  it('lists the same as annotations of a workflow', async () => {
    const { code, stdout } = await validate(['bad.yaml', 'odd, really.yaml'], '--format', 'github');
    expect(code).toBe(1);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^::error file=templates\/bad\.yaml,line=3,col=24,title=bad-ipv4::.+ \[bad-ipv4\]$/,
      ),
      expect.stringMatching(/^::error file=templates\/bad\.yaml,line=4,col=5,title=priority-required::.+$/),
      expect.stringMatching(
        /^::warning file=templates\/odd%2C really\.yaml,line=3,col=42,title=ttl-unusual::/,
      ),
      '',
    ]);
  });

  it('names the file of an annotation by its place in the checkout', async () => {
    const workspace = await workplace({ withExamples: false });
    await write(workspace, {
      'dns/templates/bad.yaml': 'template: x\nrecords:\n  - {type: A, content: 1}\n',
    });
    const launch = { cwd: path.join(workspace, 'dns'), env: { GITHUB_WORKSPACE: workspace } };
    for (const place of ['templates', path.join(workspace, 'dns/templates')]) {
      const { stdout } = await run(['validate', '--templates', place, '--format', 'github'], launch);
      expect(stdout).toMatch(/^::error file=dns\/templates\/bad\.yaml,line=3,/);
    }
    const elsewhere = { ...launch, env: { GITHUB_WORKSPACE: '/elsewhere' } };
    expect((await run(['validate', '--format', 'github'], elsewhere)).stdout).toContain(
      'file=templates/bad.yaml',
    );
  });

  it.each(['text', 'github', 'json'])('prints no CI command, as %s', async (format) => {
    const cwd = await workplace({ withExamples: false });
    await write(cwd, {
      '::add-mask::com.yaml': 'template: x\n"##[add-mask]com": 1\nrecords: []\n',
      '\u001b]0;owned\u0007.yaml': 'template: y\n"::stop-commands::x": ##vso[a]\nrecords: 1\n',
    });
    const { code, stdout } = await run(['validate', '--templates', '.', '--format', format], { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/unknown-key/);
    expect(stdout).not.toMatch(/[\u001B\u0007]/);
    expect(stdout.replaceAll(/^::error /gm, '')).not.toMatch(commands);
  });
});
