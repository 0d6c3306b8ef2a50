import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { writeBelow } from '../daemon/ways.ts';
import { errorChecks, warningChecks } from '../../src/desired/check-id.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { post } from '../sandbox/requests.ts';
import { startDaemon } from './daemon.ts';
import { run, workplace } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = path.join('.github', 'docs');
const docs = readdirSync(folder).map((name) => path.join(folder, name));
const pages = ['README.md', path.join('.github', 'CONTRIBUTING.md'), ...docs];
const textOf = (page: string): string => readFileSync(page, 'utf8');

/** The examples of a page in one language. */
const blocks = (page: string, language: string): string[] =>
  [...textOf(page).matchAll(new RegExp(String.raw`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(
    ([, block = '']) => block,
  );

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

it('the README is one screen', () => {
  expect(Buffer.byteLength(textOf('README.md'))).toBeLessThan(10_000);
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

describe('the examples', () => {
  const templates = pages.flatMap((page) =>
    blocks(page, 'yaml')
      .filter((block) => block.startsWith('template:'))
      .map((block) => [page, block] as const),
  );

  it.each(templates)('of template files in %s are valid', async (_, block) => {
    const cwd = await workplace({ withExamples: false });
    await writeBelow(cwd, 'templates/example.yaml', block);
    await writeBelow(cwd, 'templates/_mail.yaml', 'records:\n  - {type: TXT, content: v=spf1 mx -all}\n');
    expect(await run(['validate'], { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 errors'),
    });
  });

  it.each(pages)('in YAML of %s can be read', (page) => {
    for (const block of blocks(page, 'yaml'))
      expect(parseAllDocuments(block).flatMap(({ errors }) => errors)).toEqual([]);
  });

  const settings = pages.flatMap((page) =>
    blocks(page, 'yaml')
      .filter((block) => /^(?:baseUrl|notify|clients):/.test(block))
      .map((block) => [page, block] as const),
  );

  it.each(settings)('of settings in %s are understood', async (_, block) => {
    const cwd = await workplace();
    const needed = block.includes('baseUrl:') ? '' : 'baseUrl: https://panel.example.net/api/v1\n';
    await writeBelow(cwd, 'dns-template-sync.yaml', needed + block);
    for (const client of ['acme', 'bakery'])
      await writeBelow(cwd, `templates/${client}/a.yaml`, `template: ${client}\nrecords: []\n`);
    expect(await run(['validate'], { cwd })).toMatchObject({ code: 0 });
  });

  /** Each command of a page after the other, as one would type them. */
  const commandsOf = (page: string): string[][] =>
    [
      ...blocks(page, 'sh')
        .join('\n')
        .matchAll(/^dns-template-sync ([^#|&\n]+?) *(?:#.*)?$/gm),
    ]
      .map(([, words = '']) => words.split(' ').map((word) => word.replaceAll(/^'|'$/g, '')))
      .filter(([command]) => command !== 'run' && command !== 'sandbox');

  it.each(pages.filter((page) => commandsOf(page).length > 0))('of commands in %s work', async (page) => {
    const cwd = await workplace();
    for (const words of commandsOf(page)) {
      const isOffline = words[0] === 'validate' || words[0] === 'schema';
      const sandbox = isOffline || words.includes('--sandbox') ? [] : ['--sandbox'];
      const yes = words[0] === 'apply' && !words.includes('--yes') ? ['--yes'] : [];
      const out = words[0] === 'import' ? ['--out', 'imported'] : [];
      const { code, stderr } = await run([...words, ...sandbox, ...yes, ...out], { cwd });
      const isExpected = code === 0 || (code === 2 && words.includes('--detailed-exitcode'));
      // The example data has a conflict that no pass can write.
      if (!(isExpected || (words[0] === 'apply' && code === 1))) expect({ words, code, stderr }).toBe('well');
    }
  });

  it('of a plan equals the output of the program', async () => {
    const [block = ''] = blocks(path.join(folder, 'commands.md'), 'console');
    const [command = '', ...output] = block.split('\n');
    expect(command).toMatch(/^\$ dns-template-sync plan/);
    const { stdout } = await run(command.split(' ').slice(2), { cwd: await workplace() });
    expect(stdout).toBe(output.join('\n'));
  });

  it('of a change at the service works', async () => {
    const sandbox = await startSandbox({});
    const [, name = '', body = ''] =
      /\/sandbox\/(\S+) .*-d '(.*)'/.exec(textOf(path.join(folder, 'sandbox.md'))) ?? [];
    const { json } = await post(`${sandbox.controlUrl}/${name}`, JSON.parse(body));
    expect(JSON.stringify(json)).toContain('"content":"192.0.2.99"');
    await sandbox.close();
  });
});

describe('the tables', () => {
  it('of checks have a line for each one', () => {
    const known: string[] = [...errorChecks, ...warningChecks];
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

  it('of options of the daemon have each one', async () => {
    const { stdout } = await run(['run', '--help'], { cwd: await workplace() });
    const options = [...stdout.matchAll(/^ {2}(--\S+)/gm)].map(([, option]) => option);
    const listed = rowsOf(path.join(folder, 'daemon.md')).filter((row) => row.startsWith('--'));
    expect(listed.map((row) => row.split(' ')[0])).toEqual(options);
  });

  it('of alerts have a line for each one', () => {
    const rules = textOf(path.join('.github', 'deploy', 'alerts.yaml'));
    const alerts = [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
    expect(rowsOf(path.join(folder, 'deployment.md'))).toEqual(alerts);
  });

  it('of commands list all commands', async () => {
    const { stdout } = await run(['--help'], { cwd: await workplace() });
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?: \[| <| {2})/gm)].map(([, name]) => name);
    const listed = rowsOf(path.join(folder, 'commands.md')).map((row) => row.split(' ')[0]);
    for (const command of commands) if (command !== 'help') expect(listed).toContain(command);
  });

  it('of settings list each key', async () => {
    const { stdout } = await run(['schema', 'config'], { cwd: await workplace() });
    const { properties } = z
      .object({ properties: z.record(z.string(), z.unknown()) })
      .parse(JSON.parse(stdout));
    const text = textOf(path.join(folder, 'settings.md'));
    for (const key of Object.keys(properties))
      expect(text).toMatch(new RegExp(`\`${key}[\`.]|^${key}:`, 'm'));
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
