import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { workplace } from '../../program.ts';
import { writeBelow } from '../ways.ts';
import { withTools } from './tools.ts';

const unit = await readFile('.github/deploy/systemd/dns-template-sync.service', 'utf8');

/** What systemd says of a unit: it ignores what it does not understand, with a warning. */
const remarks = async (text: string): Promise<string> => {
  const cwd = await workplace({ withExamples: false });
  await writeBelow(cwd, 'dns-template-sync.service', text.replace('/usr/bin/node', process.execPath));
  const file = path.join(cwd, 'dns-template-sync.service');
  const command = promisify(execFile)('systemd-analyze', ['verify', '--man=no', file], { env: withTools() });
  const { stdout, stderr } = await command.catch((error: { stdout: string; stderr: string }) => error);
  return stdout + stderr;
};

it('the unit is understood by systemd', async () => {
  expect(await remarks(unit)).toBe('');
});

it('a mistake in it would be noticed', async () => {
  expect(await remarks(unit.replace('ProtectSystem=strict', 'ProtectSystem=strictly'))).toContain('strictly');
  expect(await remarks(unit.replace('NoNewPrivileges', 'NoPrivileges'))).toContain('NoPrivileges');
});
