import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { reportSchema } from '../../src/report-schema.ts';
import { json } from '../wire/scripted-server.ts';
import { reportOf, run, textsBelow, workplace, type Ended, type Launch } from './program.ts';
import { clientToken, environment, startService, userToken, type Meddling, type Service } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Place {
  readonly service: Service;
  readonly launch: Launch;
  readonly templates: string;
}

const place = async (withExamples: boolean, meddle?: Meddling): Promise<Place> => {
  const service = await startService(meddle);
  const cwd = await workplace({ withExamples });
  return { service, launch: { cwd, env: service.env }, templates: path.join(cwd, 'templates') };
};

const answering =
  (templates: readonly object[]): Meddling =>
  ({ path: asked }) =>
    asked.endsWith('/dns_templates') ? json(templates) : null;

const web = (id: number, name: string | null, ...records: object[]) => ({
  id,
  name,
  publicly_available: false,
  subdomains: 0,
  dns_template_records: records.map((record, index) => ({
    id: id * 100 + index,
    name: null,
    priority: null,
    ttl: 3_600,
    ...record,
  })),
});
const a = { type: 'A', content: '192.0.2.1' };

/** What a pass over the files would write: nothing, and nothing stands in its way. */
const expectInSync = async (launch: Launch, ...more: readonly string[]): Promise<void> => {
  const args = ['plan', '--strict', '--format', 'json', '--ignore-subdomains', ...more];
  const { stdout } = await run(args, launch);
  const { summary, templates, problems } = reportSchema.parse(JSON.parse(stdout));
  expect(problems.filter(({ check }) => check !== 'unmanaged')).toEqual([]);
  expect(summary).toMatchObject({
    add: 0,
    update: 0,
    park: 0,
    blocked: 0,
    failedTemplates: 0,
    heldTemplates: 0,
    suspendedTemplates: 0,
  });
  expect(templates.length).toBeGreaterThan(0);
};

const namesIn = async (directory: string): Promise<string[]> => (await readdir(directory)).toSorted();

/** Each as an editor checks it: against the schema that its first line names. */
const expectFitsSchema = async (file: string): Promise<void> => {
  const text = await readFile(file, 'utf8');
  const [, named = ''] = /^# yaml-language-server: \$schema=(.*)\n/.exec(text) ?? [];
  const schema = JSON.parse(await readFile(path.join(path.dirname(file), named), 'utf8'));
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true });
  ajv.validate(schema, parse(text));
  expect(ajv.errors ?? []).toEqual([]);
};

describe('import', () => {
  it('writes a file for each of the client’s own templates, and a plan then has no differences', async () => {
    const { service, launch, templates } = await place(false);
    const imported = await run(['import'], launch);
    expect(imported).toEqual({
      code: 0,
      stderr: '',
      stdout: [
        'written    templates/standard-web.yaml: 11 records',
        'written    templates/mail-only.yaml: 7 records, 1 remark',
        'written    templates/redirects.yaml: 3 records',
        'written    templates/office-reverse.yaml: 5 records',
        'written    templates/voice.yaml: 4 records',
        '5 templates: 5 written, 0 unchanged, 0 skipped',
        '',
      ].join('\n'),
    });
    expect(await readFile(path.join(templates, 'mail-only.yaml'), 'utf8')).toBe(`template: mail-only
ttl: 3600
# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.
surplus: park
records:
  - { type: CNAME, name: autoconfig, content: autoconfig.example.com }
  - { type: CNAME, name: webmail, content: webmail.example.com }
  - { type: MX, content: mx1.example.com, priority: 10 }
  - { type: MX, content: mx2.example.com, priority: 30 }
  - { type: TXT, content: v=spf1 mx -all }
  - { type: TXT, name: _dmarc, content: 'v=DMARC1; p=quarantine; rua=mailto:dmarc@example.org' }
  - { type: TXT, name: mail2025._domainkey, content: v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo= }

# What this file cannot say:
# - record 217 is a copy of record 212: { type: TXT, content: v=spf1 mx -all, ttl: 3600 }
`);
    await expectInSync(launch);
    const before = await textsBelow(templates);
    const again = await run(['import'], launch);
    expect(again.stdout).toContain('5 templates: 0 written, 5 unchanged, 0 skipped');
    expect(again.code).toBe(0);
    expect(await textsBelow(templates)).toEqual(before);
    expect(service.writes()).toEqual([]);
  });

  it('names for editors the schema that is in the templates directory', async () => {
    const { launch, templates } = await place(false);
    await mkdir(templates);
    expect(await run(['schema', '--write'], launch)).toMatchObject({ code: 0 });
    expect(await run(['import', 'redirects', '--out', 'templates/a/b'], launch)).toMatchObject({ code: 0 });
    await expectFitsSchema(path.join(templates, 'a/b/redirects.yaml'));
  });

  it.each<[string[], string]>([
    [['voise'], "no template of this client's own called voise; did you mean `voice`?"],
    [['basic-parking'], "no template of this client's own called basic-parking"],
    [['--out', 'templates/voice.yaml'], 'templates/voice.yaml is not a directory'],
  ])('%j: nothing is written, and the reason is shown', async (args, message) => {
    const { launch, templates } = await place(true);
    const before = await textsBelow(templates);
    const { code, stdout, stderr } = await run(['import', ...args], launch);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(await textsBelow(templates)).toEqual(before);
  });

  it('names files after any template names, no two the same, and stays in its directory', async () => {
    const files: [name: string | null, file: string][] = [
      ['../../etc/passwd', 'etc-passwd.yaml'],
      ['C:\\autoexec.bat', 'c-autoexec.bat.yaml'],
      ['.hidden', 'hidden.yaml'],
      ['_fragment', 'fragment.yaml'],
      ['web', 'web@5.yaml'],
      ['Web!', 'web@6.yaml'],
      ['web', 'web@7.yaml'],
      [null, 'template-8.yaml'],
      ['a\u0000b', 'template-9.yaml'],
      ['..', 'template-10.yaml'],
      ['Bücher & Brötchen', 'bucher-brotchen.yaml'],
      ['日本', 'template-12.yaml'],
      ['${x}', 'x.yaml'],
      ['template-15', 'template-15@14.yaml'],
      ['', 'template-15@15.yaml'],
      ['x'.repeat(300), `${'x'.repeat(100)}.yaml`],
      ['v1.2', 'v1.2.yaml'],
    ];
    const { launch, templates } = await place(
      false,
      answering(files.map(([name], index) => web(index + 1, name, a))),
    );
    expect(await run(['import'], launch)).toMatchObject({ code: 0, stderr: '' });
    expect((await readdir(launch.cwd)).filter((name) => name !== 'state')).toEqual(['templates']);
    expect(await namesIn(templates)).toEqual(files.map(([, file]) => file).toSorted());
    const stated = await readFile(path.join(templates, 'web@7.yaml'), 'utf8');
    expect(stated).toContain('template: web\nid: 7\n');
    await expectInSync(launch);
  });

  it('writes no token that a record contains', async () => {
    const records = [userToken, clientToken].map((token) => ({ type: 'TXT', content: `x ${token}` }));
    const { launch } = await place(
      false,
      answering([web(1, 'web', ...records), web(2, `name ${userToken}`), web(3, 'mail', a)]),
    );
    const ended = await run(['import'], launch);
    expect(ended).toMatchObject({ code: 1, stderr: '' });
    expect(ended.stdout).toContain('template 1 contains a token of this client');
    const texts = JSON.stringify([ended, await textsBelow(launch.cwd)]);
    for (const token of [userToken, clientToken])
      expect(texts).not.toContain(JSON.stringify(token).slice(1, -1));
    expect(await namesIn(path.join(launch.cwd, 'templates'))).toEqual(['mail.yaml']);
  });
});

describe('if there is a file already', () => {
  it('the file stays, and accept is named', async () => {
    const { launch, templates } = await place(true);
    const before = await textsBelow(templates);
    const skipped = await run(['import'], launch);
    expect(skipped.code).toBe(1);
    expect(skipped.stdout).toContain(
      'skipped    templates/voice.yaml: it describes the template already; accept voice writes into it what the service has; to import it anew, remove it first\n',
    );
    expect(skipped.stdout).toContain('5 templates: 0 written, 0 unchanged, 5 skipped');
    expect(await textsBelow(templates)).toEqual(before);
  });

  it('with another name, or in another directory of the passes, no second one is written', async () => {
    const { launch, templates } = await place(false);
    await mkdir(templates);
    await mkdir(path.join(launch.cwd, 'more'));
    await writeFile(path.join(launch.cwd, 'more', 'x.yaml'), 'template: voice\nrecords: []\n');
    await writeFile(path.join(launch.cwd, 'more', 'y.yaml'), 'template: old name\nid: 23\nrecords: []\n');
    const both = { ...launch, env: { ...launch.env, DNS_SYNC_TEMPLATES: 'templates:more' } };
    for (const args of [[], ['--out', 'templates/deeper']]) {
      const { code, stdout } = await run(['import', 'voice', 'redirects', ...args], both);
      expect(code).toBe(1);
      expect(stdout).toContain('skipped    more/x.yaml: it describes the template already');
      expect(stdout).toContain('skipped    more/y.yaml: it describes the template already');
    }
    expect(await run(['import', 'voice', '--out', 'apart'], both)).toMatchObject({ code: 0 });
    expect(await readdir(templates)).toEqual([]);
  });

  it('and it does not describe the template, or two do, the reason is shown', async () => {
    const kept: Record<string, [file: string, reason: string]> = {
      another: ['template: other\nrecords: []\n', 'does not describe this template'],
      foreign: ['hello: world\n', 'does not describe this template'],
      wrong: ['template: wrong\nrecords: [{type: A}]\n', 'it describes the template already'],
      twice: ['template: twice\nrecords: []\n', 'templates/y.yaml describes it too'],
    };
    const names = Object.keys(kept);
    const { launch, templates } = await place(
      false,
      answering(names.map((name, index) => web(index + 1, name, a))),
    );
    await mkdir(templates);
    for (const [name, [text]] of Object.entries(kept))
      await writeFile(path.join(templates, `${name}.yaml`), text);
    await writeFile(path.join(templates, 'y.yaml'), 'template: twice\nrecords: []\n');
    const before = await textsBelow(templates);
    const { code, stdout } = await run(['import', ...names], launch);
    expect(code).toBe(1);
    for (const [name, [, reason]] of Object.entries(kept))
      expect(
        stdout.split('\n').find((line) => line.startsWith(`skipped    templates/${name}.yaml`)),
      ).toContain(reason);
    expect(stdout).toContain('4 templates: 0 written, 0 unchanged, 4 skipped');
    expect(await textsBelow(templates)).toEqual(before);
  });

  it('for one of two templates of a name, the other is written', async () => {
    const { launch, templates } = await place(false, answering([web(1, 'web', a), web(2, 'web')]));
    await mkdir(templates);
    await writeFile(path.join(templates, 'web.yaml'), 'template: web\nid: 2\nrecords: []\n');
    const { stdout } = await run(['import'], launch);
    expect(stdout).toContain('written    templates/web@1.yaml: 1 record\n');
    expect(stdout).toContain('skipped    templates/web.yaml: it describes the template already');
    await expectInSync(launch);
  });

  it('that is a link, its target is not written', async () => {
    const { launch, templates } = await place(false);
    await mkdir(templates);
    await writeFile(path.join(launch.cwd, 'voice'), 'template: voice\nrecords: []\n');
    await symlink('../voice', path.join(templates, 'voice.yaml'));
    await symlink('../nothing', path.join(templates, 'redirects.yaml'));
    const { code, stdout } = await run(['import', 'voice', 'redirects'], launch);
    expect(code).toBe(1);
    expect(stdout.match(/it is not a regular file/g)).toHaveLength(2);
    expect(await readFile(path.join(launch.cwd, 'voice'), 'utf8')).toBe('template: voice\nrecords: []\n');
    expect(await readdir(launch.cwd)).not.toContain('nothing');
  });
});

describe('several clients', () => {
  const config = (url: string): string => `baseUrl: ${url}
userToken: {env: DNS_SYNC_USER_TOKEN}
clients:
  acme: {clientToken: {env: ACME_TOKEN}, templates: [templates/acme, more]}
  bakery: {clientToken: {env: BAKERY_TOKEN}, templates: templates/bakery}
`;

  const twoClients = async (): Promise<{
    launch: Launch;
    importing: (...args: string[]) => Promise<Ended>;
  }> => {
    const service = await startService();
    const cwd = await workplace({ withExamples: false });
    await writeFile(path.join(cwd, 'dns-template-sync.yaml'), config(service.url));
    await mkdir(path.join(cwd, 'more'));
    const { DNS_SYNC_USER_TOKEN = '' } = environment(service.url);
    const env = { DNS_SYNC_USER_TOKEN, ACME_TOKEN: 'token of acme', BAKERY_TOKEN: 'token of the bakery' };
    const launch = { cwd, env };
    return { launch, importing: (...args) => run(['import', 'voice', ...args], launch) };
  };

  it('have their files in their own directories', async () => {
    const { launch, importing } = await twoClients();
    const { code, stdout } = await importing();
    expect(code).toBe(0);
    expect(stdout).toContain('templates/acme/voice.yaml');
    expect(stdout).toContain('templates/bakery/voice.yaml');
    // To this service all tokens are of one account.
    await expectInSync(launch, '--client', 'acme');
  });

  it('cannot share --out, so one must be chosen', async () => {
    const { launch, importing } = await twoClients();
    const refused = await importing('--out', 'out');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('choose one with --client');
    expect(await importing('--out', 'out', '--client', 'acme')).toMatchObject({ code: 0 });
    expect(await namesIn(path.join(launch.cwd, 'out'))).toEqual(['voice.yaml']);
  });
});

describe('what was imported', () => {
  it('belongs to the file, so that a line that is removed is parked', async () => {
    const { service, launch, templates } = await place(false);
    expect(await run(['import', 'voice'], launch)).toMatchObject({ code: 0, stderr: '' });
    expect(service.writes()).toEqual([]);
    const file = path.join(templates, 'voice.yaml');
    const lines = (await readFile(file, 'utf8')).split('\n');
    const dropped = lines.findIndex((line) => line.includes('type: A,'));
    await writeFile(file, lines.toSpliced(dropped, 1).join('\n'));
    const env = { ...launch.env, DNS_SYNC_SURPLUS: 'park' };
    const { stdout } = await run(['plan', '--format', 'json'], { ...launch, env });
    const differences = [{ action: 'park', cause: 'edited' }];
    expect(reportOf(stdout).templates).toMatchObject([{ template: 'voice', differences }]);
  });

  it('into a directory that no pass reads saves no state', async () => {
    const { launch } = await place(false);
    expect(await run(['import', '--out', 'elsewhere'], launch)).toMatchObject({ code: 0, stderr: '' });
    const { stderr } = await run(['plan', '--allow-empty', '--templates', 'elsewhere'], launch);
    expect(stderr).toContain('planned without saved state');
  });
});
