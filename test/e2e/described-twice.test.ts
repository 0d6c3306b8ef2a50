import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { reportOf, run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const other = 'template: shop\nid: 17\nrecords: [{ type: A, content: 203.0.113.77 }]\n';
const byName = 'templates/standard-web.yaml:3:1';

it.each([
  ['another file names its id', other, ['apply'], 'templates/shop.yaml:1:1'],
  ['only one of the two is asked for', other, ['apply', 'standard-web'], 'templates/shop.yaml:1:1'],
  ['the other one has errors', `${other}mod: report\n`, ['apply', 'standard-web'], 'templates/shop.yaml'],
])(
  'a template that one file finds by name and another by id is not written: %s',
  async (_, text, args, place) => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    await writeFile(path.join(launch.cwd, 'templates', 'shop.yaml'), text);
    const { code, stdout } = await run([...args, '--yes', '--format', 'json'], launch);
    expect(code).toBe(1);
    const templates = reportOf(stdout).templates.filter(({ id }) => id === 17 || id === null);
    expect(templates.find(({ template }) => template === 'standard-web')).toMatchObject({
      status: 'held',
      message: `template 17 ('standard-web') is described at ${byName} and at ${place}`,
    });
    expect(templates.every(({ status }) => status === 'held')).toBe(true);
    expect(service.writes().filter(({ path: written }) => written.includes('/17/'))).toEqual([]);
  },
);
