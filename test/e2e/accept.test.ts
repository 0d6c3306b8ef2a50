import { execFileSync } from 'node:child_process';
import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, start, workplace, type Launch } from './program.ts';
import { startService, type Service } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const web = `# the web servers
template: web
include: [_mail.yaml]
vars: { web: 192.0.2.1 } # in Bern
records:
  - { type: A, content: "\${web}" }
  - { type: A, name: www, content: "\${web}" }
  # given up
  - { type: A, name: old, content: 192.0.2.8 }
`;
const mail = `records:
  # ours
  - { type: MX, content: mx.example.net, priority: 10 }
`;

const twoClients = (own: readonly [string, string]): string => `clients:
  acme: { templates: [${own[0]}, templates] }
  bakery: { templates: [${own[1]}, templates], clientToken: { env: MISSING } }
`;

interface Place {
  readonly service: Service;
  readonly launch: Launch;
  readonly id: number;
  readonly idOf: (name: string | null, type: string) => Promise<number>;
  readonly textOf: (name: string) => Promise<string>;
  readonly plan: () => Promise<string>;
}

/** A template in sync with its files, in a git checkout. */
const place = async (): Promise<Place> => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  await writeBelow(cwd, 'templates/web.yaml', web);
  await writeBelow(cwd, 'templates/_mail.yaml', mail);
  execFileSync('git', ['init', '-q'], { cwd });
  const launch = { cwd, env: service.env };
  const a = { type: 'A', content: '192.0.2.1' };
  const { id } = (await service.change('add-template', {
    name: 'web',
    records: [
      a,
      { ...a, name: 'www' },
      { ...a, name: 'old', content: '192.0.2.8' },
      { type: 'MX', content: 'mx.example.net', priority: 10 },
    ],
  })) as { id: number };
  const plan = async (): Promise<string> => (await run(['plan', 'web'], launch)).stdout;
  return {
    service,
    launch,
    id,
    idOf: async (name, type) =>
      (await service.records(id)).find((one) => one.name === name && one.type === type)!.id,
    textOf: (name) => readFile(path.join(cwd, 'templates', name), 'utf8'),
    plan,
  };
};

it('a day with drift: a record, a fragment, a variable, a patch', async () => {
  const { service, launch, id, idOf, textOf, plan } = await place();
  expect(await plan()).toContain('everything in sync');
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });

  // A record is gone, another one is new, and the mail server's priority is another one.
  await service.change('remove-record', { record_id: await idOf('old', 'A') });
  await service.change('add-record', { dns_template_id: id, type: 'TXT', content: 'hello' });
  await service.change('edit-record', { record_id: await idOf(null, 'MX'), priority: 20 });
  expect(await plan()).toMatch(/MX .*10[^]*old [^]*TXT/);
  const refused = await run(['accept', 'web'], launch);
  expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('give --yes') });
  expect(await textOf('web.yaml')).toBe(web);
  expect(await run(['accept', 'web', '@ MX', '--yes'], launch)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('written  templates/_mail.yaml\nweb: accepted 1 difference\n'),
  });
  expect(await textOf('_mail.yaml')).toBe(mail.replace('10', '20'));
  expect(await textOf('web.yaml')).toBe(web);
  expect(await run(['accept', 'web', '--yes'], launch)).toMatchObject({ code: 0 });
  const afterNoon = web.replace(/ {2}# given.*\n.*\n/, '  - { type: TXT, content: hello, ttl: 3600 }\n');
  expect(await textOf('web.yaml')).toBe(afterNoon);
  expect(await plan()).toContain('everything in sync');

  // The server moves: the variable is changed by hand.
  for (const name of [null, 'www'])
    await service.change('edit-record', { record_id: await idOf(name, 'A'), content: '192.0.2.99' });
  const byHand = await run(['accept', 'web', '--yes'], launch);
  expect(byHand).toMatchObject({ code: 1, stdout: '' });
  expect(byHand.stderr).toContain(
    'nothing was changed:\ntemplates/web.yaml:6: its value comes from the variable `${web}`: instead of { type: A, content: 192.0.2.1 }, write - { type: A, content: 192.0.2.99 }\ntemplates/web.yaml:7: ',
  );
  expect(await textOf('web.yaml')).toBe(afterNoon);
  await writeBelow(launch.cwd, 'templates/web.yaml', afterNoon.replace('192.0.2.1 }', '192.0.2.99 }'));
  expect(await plan()).toContain('everything in sync');

  // A patch for others to look at.
  await service.change('edit-record', { record_id: await idOf(null, 'TXT'), ttl: 300 });
  const moved = await run(['accept', 'web', '--out', '-'], launch);
  expect(moved.stdout).toContain('+  - { type: TXT, content: hello, ttl: 300 }\n');
  expect(await run(['accept', 'web', '--out', 'moved.patch'], launch)).toMatchObject({
    code: 0,
    stdout: '',
  });
  expect(await readFile(path.join(launch.cwd, 'moved.patch'), 'utf8')).toBe(moved.stdout);
  expect(await plan()).not.toContain('everything in sync');
  execFileSync('git', ['apply', 'moved.patch'], { cwd: launch.cwd });
  expect(await plan()).toContain('everything in sync');

  expect(await run(['accept', 'web', 'www A', '--yes'], launch)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('nothing to accept'),
  });
  expect(service.writes()).toEqual([]);
});

it('on a terminal it shows the diff and asks', async () => {
  const { service, launch, idOf, textOf } = await place();
  await service.change('edit-record', { record_id: await idOf('old', 'A'), content: '192.0.2.5' });
  for (const [answer, code] of [
    ['n', 1],
    ['y', 0],
  ] as const) {
    const program = start(['accept', 'web'], { ...launch, isTerminal: true });
    await program.says('Write this to the files? [y/N]');
    expect(program.output()).toContain('+  - { type: A, name: old, content: 192.0.2.5 }');
    expect(await textOf('web.yaml')).toBe(web);
    program.type(`${answer}\n`);
    expect((await program.ended).code).toBe(code);
  }
  expect(await textOf('web.yaml')).toContain('192.0.2.5');
});

it('a file that changes before the answer is left as it is', async () => {
  const { service, launch, idOf, textOf } = await place();
  await service.change('edit-record', { record_id: await idOf('old', 'A'), content: '192.0.2.5' });
  const program = start(['accept', 'web'], { ...launch, isTerminal: true });
  await program.says('Write this to the files? [y/N]');
  await writeBelow(launch.cwd, 'templates/web.yaml', `${web}# mine\n`);
  program.type('y\n');
  expect((await program.ended).code).toBe(1);
  expect(program.output()).toContain('templates/web.yaml was changed meanwhile');
  expect(await textOf('web.yaml')).toBe(`${web}# mine\n`);
});

describe('it refuses, and changes nothing', () => {
  it('no such template, no such record, no pattern', async () => {
    const { launch, textOf } = await place();
    for (const [args, message] of [
      [['wbe'], 'did you mean `web`?'],
      [['web', 'wwww A'], '`wwww A` is no record of these templates; did you mean `www A`?'],
      [['web', 'www'], 'expected a name and a type'],
    ] as const)
      expect(await run(['accept', ...args, '--yes'], launch)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(message),
      });
    expect([await textOf('web.yaml'), await textOf('_mail.yaml')]).toEqual([web, mail]);
  });

  it('a fragment that a template of another client includes, whichever are chosen', async () => {
    const { service, launch, idOf, textOf } = await place();
    const at = (file: string): string => path.join(launch.cwd, file);
    const text = (name: string): string => `template: ${name}\ninclude: [../templates/_mail.yaml]\n`;
    await rm(at('templates/web.yaml'));
    await writeBelow(launch.cwd, 'acme/web.yaml', text('web'));
    await writeBelow(launch.cwd, 'bakery/other.yaml', text('other'));
    await writeFile(at('dns-template-sync.yaml'), twoClients(['acme', 'bakery']));
    await service.change('edit-record', { record_id: await idOf(null, 'MX'), priority: 20 });
    const args = ['accept', 'web', '@ MX', '--yes', '--client', 'acme'];
    const refusal = 'templates/_mail.yaml:3: template other of client bakery uses this file too: instead of ';
    expect(await run(args, launch)).toMatchObject({ code: 1, stderr: expect.stringContaining(refusal) });
    await writeBelow(launch.cwd, 'bakery/other.yaml', `${text('other')}mode: never\n`);
    const mayBe = 'bakery/other.yaml of client bakery has errors, and may include this file';
    expect(await run(args, launch)).toMatchObject({ code: 1, stderr: expect.stringContaining(mayBe) });
    expect(await textOf('_mail.yaml')).toBe(mail);
    await rm(at('bakery/other.yaml'));
    const paths = ['--templates', 'acme', '--templates', 'templates'];
    expect(await run([...args, ...paths], launch)).toMatchObject({ code: 0 });
  });

  it('while the listing may be from before an earlier write', async () => {
    const { service, launch, idOf, textOf } = await place();
    const more = `${web}  - { type: A, name: new, content: 192.0.2.5 }\n`;
    await writeBelow(launch.cwd, 'templates/web.yaml', more);
    expect(await run(['apply', 'web', '--yes'], launch)).toMatchObject({ code: 0 });
    await service.change('remove-record', { record_id: await idOf('new', 'A') });
    const slow = { ...launch, env: { ...launch.env, DNS_SYNC_SETTLE: '10s' } };
    expect(await run(['accept', 'web', '--yes'], slow)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('web: nothing can be accepted now: '),
    });
    expect(await textOf('web.yaml')).toBe(more);
    expect(await run(['accept', 'web', '--yes'], launch)).toMatchObject({ code: 0 });
    expect(await textOf('web.yaml')).toBe(web);
  });

  it.each<[string, (given: Place) => Promise<unknown>, string[], string]>([
    [
      'a file with errors',
      ({ launch }) => writeFile(path.join(launch.cwd, 'templates/web.yaml'), `${web}  - { type: A }\n`),
      ['web', '--yes'],
      '1 error in templates/web.yaml',
    ],
    [
      'a token in a record',
      async ({ service, idOf }) =>
        service.change('edit-record', {
          record_id: await idOf('www', 'A'),
          content: service.env['DNS_SYNC_USER_TOKEN'],
        }),
      ['web', '--yes'],
      'contains a token',
    ],
    [
      'a fragment that others include',
      async ({ service, launch, idOf }) => {
        await writeBelow(launch.cwd, 'templates/other.yaml', 'template: other\ninclude: [_mail.yaml]\n');
        await service.change('edit-record', { record_id: await idOf(null, 'MX'), priority: 20 });
      },
      ['web', '--yes'],
      'templates/_mail.yaml:3: template other uses this file too: instead of ',
    ],
    [
      'a file of its own that another client has too',
      async ({ service, launch, id }) => {
        await writeBelow(launch.cwd, 'dns-template-sync.yaml', twoClients(['templates', 'templates']));
        await service.change('add-record', { dns_template_id: id, type: 'TXT', content: 'hello' });
      },
      ['web', '--yes', '--client', 'acme'],
      'templates/web.yaml: template web of client bakery uses this file too: add ',
    ],
    [
      'a file that is a symbolic link',
      async ({ service, idOf, launch }) => {
        const file = path.join(launch.cwd, 'templates/web.yaml');
        await writeFile(path.join(launch.cwd, 'web.yaml'), web);
        await rm(file);
        await symlink('../web.yaml', file);
        await service.change('edit-record', { record_id: await idOf('old', 'A'), content: '192.0.2.5' });
      },
      ['web', '--yes', '--templates', '.'],
      'is not changed',
    ],
  ])('%s', async (_, prepare, args, message) => {
    const given = await place();
    await prepare(given);
    const [own, fragment] = await Promise.all(['web.yaml', '_mail.yaml'].map(given.textOf));
    const ended = await run(['accept', ...args], given.launch);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    expect(await Promise.all(['web.yaml', '_mail.yaml'].map(given.textOf))).toEqual([own, fragment]);
  });
});
