import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkIds } from '../../src/desired/check-id.ts';
import { startDaemon } from '../daemon/daemon.ts';
import { docs, folder, pages, textOf } from './documents.ts';
import { run, workplace } from '../program.ts';

/** As GitHub makes them of headings. */
const anchorsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

const rowsOf = (page: string): string[] =>
  [...textOf(page).matchAll(/^\| `([^`]+)`/gm)].map(([, first = '']) => first);

it('the README is short, and so is the documentation', () => {
  const bytesOf = (page: string): number => Buffer.byteLength(textOf(page));
  expect(bytesOf('README.md')).toBeLessThanOrEqual(5 * 1024);
  expect(docs.reduce((sum, page) => sum + bytesOf(page), 0)).toBeLessThanOrEqual(120 * 1024);
});

it.each(pages)('every link of %s leads somewhere', (page) => {
  const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link);
  for (const link of links) {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : path.join(path.dirname(page), file);
    expect(existsSync(target) ? target : `${page}: nothing at ${link}`).toBe(target);
    if (anchor !== undefined) expect(anchorsOf(target)).toContain(anchor);
  }
});

it('every page of the documentation is linked from the README', () => {
  for (const page of docs) expect(textOf('README.md')).toContain(`](${page}`);
});

describe('the tables', () => {
  it('of checks have a line for each one', () => {
    const known: readonly string[] = checkIds;
    const listed = rowsOf(path.join(folder, 'templates.md')).filter((id) => known.includes(id));
    expect(listed).toEqual(known);
  });

  it('of events have each one that is logged, and no other', () => {
    const [, table = ''] = /^\| `event`(.*?)\n\n/ms.exec(textOf(path.join(folder, 'daemon.md'))) ?? [];
    const listed = [...table.matchAll(/^\| (.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`([a-z.-]+)`/g)].map(([, event]) => event),
    );
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => readFileSync(path.join('src', file), 'utf8'));
    const logged = sources.flatMap((text) =>
      [...text.matchAll(/event: '([a-z]+\.[a-z]+|notice)'/g)].map(([, event]) => event),
    );
    expect(listed.sort()).toEqual([...new Set(logged)].sort());
  });

  it('of metrics have what alerts and dashboard ask for', () => {
    const known = rowsOf(path.join(folder, 'daemon.md'));
    for (const file of ['alerts.yaml', 'dashboard.json'])
      for (const [, name = ''] of textOf(path.join('.github', 'deploy', file)).matchAll(
        /dns_template_sync_(\w+)/g,
      ))
        expect(known).toContain(name.replace(/_(?:bucket|sum|count)$/, ''));
  });

  it('of alerts have a line for each one', () => {
    const rules = textOf(path.join('.github', 'deploy', 'alerts.yaml'));
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    const listed = rowsOf(path.join(folder, 'deployment.md')).filter((row) => row.startsWith('Dns'));
    expect(listed).toEqual(alerts);
  });

  it('of commands list all commands', async () => {
    const { stdout } = await run(['--help'], { cwd: await workplace() });
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[| <| {2})/gm)].map(([, name]) => name);
    const listed = rowsOf(path.join(folder, 'commands.md')).map((row) => row.split(' ')[0]);
    for (const command of commands) if (command !== 'help') expect(listed).toContain(command);
  });

  it('of HTTP have addresses that answer', async () => {
    const daemon = await startDaemon(['--sandbox', '--reset'], { cwd: await workplace() });
    await daemon.event('pass.finished');
    const rows = [...textOf(path.join(folder, 'daemon.md')).matchAll(/`GET (\/[^`]*)`/g)];
    const addresses = rows.map(([, address = '']) => address.replace('NAME', 'standard-web'));
    expect(addresses.length).toBeGreaterThan(7);
    for (const address of addresses) {
      const answer = await daemon.ask(address);
      expect({ address, status: answer.status }).toEqual({ address, status: 200 });
      await answer.body?.cancel();
    }
  });
});
