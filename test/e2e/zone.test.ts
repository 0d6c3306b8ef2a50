import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { startCommandOnTerminal } from './process.ts';
import { reportOf, run, textsBelow, workplace } from './program.ts';
import { environment, startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const zone = `; <<>> DiG 9.18 <<>> @ns1.example.org axfr example.net
example.net.		3600	IN	SOA	ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 3600
example.net.		3600	IN	NS	ns1.example.org.
example.net.		3600	IN	A	192.0.2.1
example.net.		300	IN	MX	10 mail.example.net.
example.net.		3600	IN	TXT	"v=spf1 mx" " -all"
example.net.		3600	IN	CAA	0 issue "letsencrypt.org"
*.example.net.		3600	IN	CNAME	www.example.net.
_sip._tcp.example.net.	3600	IN	SRV	1 2 5060 sip.example.net.
example.net.		3600	IN	SOA	ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 3600
;; XFR size: 9 records (messages 1, bytes 300)
`;

const remarks = [
  'line 2 has a type that a file cannot describe: { type: SOA, content: ns1.example.org. hostmaster.example.org. 1 7200 900 1209600 3600, ttl: 3600 }',
  'line 3 has a type that a file cannot describe: { type: NS, content: ns1.example.org., ttl: 3600 }',
  `line 7 has a type that a file cannot describe: { type: CAA, content: '0 issue "letsencrypt.org"', ttl: 3600 }`,
];

const entries = `surplus: park
records:
  - { type: A, content: 192.0.2.1 }
  - { type: CNAME, name: '*', content: www.example.net }
  - { type: MX, content: mail.example.net, priority: 10, ttl: 300 }
  - { type: SRV, name: _sip._tcp, priority: 1, weight: 2, port: 5060, target: sip.example.net }
  - { type: TXT, content: v=spf1 mx -all }

# What this file cannot say:
${remarks.map((remark) => `# - ${remark}\n`).join('')}`;

const template = (name: string): string => `template: ${name}
ttl: 3600
subdomains: [example.net]
# The service cannot delete a record: one whose entry is removed here is renamed to _parked-ID instead.
${entries}`;

const placeWith = async (files: Readonly<Record<string, string>> = {}): Promise<string> => {
  const cwd = await workplace({ withExamples: false });
  for (const [name, text] of Object.entries(files)) await writeBelow(cwd, name, text);
  return cwd;
};

describe('import --zone', () => {
  it('makes a template file without a service, and names what no template can hold', async () => {
    const cwd = await placeWith({ 'a.zone': zone });
    const made = await run(['import', '--zone', 'a.zone', '--origin', 'Example.net.'], { cwd });
    expect(made).toEqual({
      code: 0,
      stdout: [
        'written    templates/example.net.yaml: 5 records, 3 remarks',
        '1 template: 1 written, 0 unchanged, 0 skipped',
        '',
      ].join('\n'),
      stderr: remarks.map((remark) => `a.zone: left out: ${remark}\n`).join(''),
    });
    expect(await readFile(path.join(cwd, 'templates/example.net.yaml'), 'utf8')).toBe(
      template('example.net'),
    );
    expect(await run(['validate', '--strict'], { cwd })).toMatchObject({ code: 0 });
  });

  it('reads what another program prints, and takes the name of the template', async () => {
    const cwd = await placeWith({ 'a.zone': zone });
    const words = ['import', 'web', '--zone', '-', '--origin', 'example.net', '--out', 'new'];
    const command = [process.execPath, built('main.js'), ...words].join(' ');
    const piped = ['sh', '-c', `cat a.zone | ${command}`];
    expect(await startCommandOnTerminal(piped, { cwd }).ended).toMatchObject({ code: 0 });
    expect(await readFile(path.join(cwd, 'new/web.yaml'), 'utf8')).toBe(template('web'));
  });

  it('leaves an existing file alone', async () => {
    const cwd = await placeWith({ 'a.zone': zone, 'templates/w.yaml': 'template: web\nrecords: []\n' });
    const words = ['import', 'web', '--zone', 'a.zone', '--origin', 'example.net'];
    const kept = await run(words, { cwd });
    expect(kept).toMatchObject({ code: 1, stdout: expect.stringContaining('accept web writes into it') });
    expect(await readFile(path.join(cwd, 'templates/w.yaml'), 'utf8')).toBe('template: web\nrecords: []\n');
  });

  it('reads a source zone, octets of another encoding, and what PowerShell saves', async () => {
    const text = '$TTL 1h\n@ IN SOA ns1 hostmaster ( 1 2h 15m 2w 1h )\nwww TXT "caf\xe9" ; \xe9\n';
    const cwd = await placeWith();
    await writeFile(path.join(cwd, 'latin.zone'), Buffer.from(text, 'latin1'));
    await writeFile(path.join(cwd, 'wide.zone'), Buffer.from(`\ufeff${text}`, 'utf16le'));
    for (const [file, content] of [
      ['latin', String.raw`'"caf\233"'`],
      ['wide', 'café'],
    ] as const) {
      const words = ['import', file, '--zone', `${file}.zone`, '--origin', 'example.net'];
      expect(await run(words, { cwd })).toMatchObject({ code: 0 });
      expect(await readFile(path.join(cwd, `templates/${file}.yaml`), 'utf8')).toContain(
        `  - { type: TXT, name: www, content: ${content} }\n`,
      );
    }
  });

  it('says what it reads otherwise than it is written', async () => {
    const lines = ['example.net 1 IN A 192.0.2.1', 'www.example.net. 1 IN A 192.0.2.1'];
    const cwd = await placeWith({ 'a.zone': `${lines.join('\n')}\n` });
    const { code, stderr } = await run(['import', '--zone', 'a.zone', '--origin', 'example.net'], { cwd });
    expect([code, stderr]).toEqual([
      0,
      [
        'a.zone: line 1: a TTL of 1 means "automatic" at Cloudflare, so that entries like this one state none',
        'a.zone: line 1: `example.net` has no final dot, and is read as a whole name',
        '',
      ].join('\n'),
    ]);
    const file = await readFile(path.join(cwd, 'templates/example.net.yaml'), 'utf8');
    expect(file).toContain(
      '  - { type: A, content: 192.0.2.1 }\n  - { type: A, name: www, content: 192.0.2.1 }\n',
    );
  });

  const source = '$TTL 1h\n$INCLUDE hosts\n';
  it.each([
    ['no origin', ['--zone', 'a.zone'], /--zone needs --origin, the name of the zone, such as example\.net/],
    ['no zone', ['--origin', 'example.net'], /--origin goes with --zone/],
    [
      'no name',
      ['--zone', 'a.zone', '--origin', 'example..net'],
      /--origin: `example\.\.net` is not the name of a zone/,
    ],
    [
      'two templates',
      ['web', 'mail', '--zone', 'a.zone', '--origin', 'example.net'],
      /--zone makes one template: give one name/,
    ],
    [
      'no file',
      ['--zone', 'none.zone', '--origin', 'example.net'],
      /--zone none\.zone: it does not exist: ENOENT/,
    ],
    [
      'an include',
      ['--zone', 'my source.zone', '--origin', 'example.net'],
      /my source\.zone:2: `\$INCLUDE` cannot be followed here: named-compilezone -k ignore -s full -o FLAT example\.net FILE writes/,
    ],
  ])('says what is wrong with %s, and writes nothing', async (_, words, message) => {
    const cwd = await placeWith({ 'a.zone': zone, 'my source.zone': source });
    const ended = await run(['import', ...words], { cwd });
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
    await expect(readFile(path.join(cwd, 'templates/example.net.yaml'))).rejects.toThrow('ENOENT');
  });

  it('needs to know the client if there are several', async () => {
    const clients = 'clients:\n  a: {templates: ./a}\n  b: {templates: ./b}\n';
    const cwd = await placeWith({ 'a.zone': zone, 'dns-template-sync.yaml': clients });
    const words = ['import', '--zone', 'a.zone', '--origin', 'example.net'];
    const refused = await run(words, { cwd });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('choose one with --client') });
    const made = await run([...words, '--client', 'b'], { cwd });
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('b/example.net.yaml: 5 records, 3 remarks'),
    });
  });

  it.each([
    ['a text', 'example.net. 60 IN TXT "my-client-token"\n', /contains a token of this program/],
    ['a message', 'example.net. 60 IN A my-client-token\n', /contains a token of this program/],
    ['two strings', 'example.net. 60 IN TXT "my-client" "-token"\n', /contains a token of this client/],
  ])('does not put a token into a file or a message: in %s', async (_, text, message) => {
    const cwd = await placeWith({ 'a.zone': text });
    const env = { ...environment('http://127.0.0.1:9'), DNS_SYNC_CLIENT_TOKEN: 'my-client-token' };
    const { code, stdout, stderr } = await run(['import', '--zone', 'a.zone', '--origin', 'example.net'], {
      cwd,
      env,
    });
    expect(code).toBe(1);
    expect(stdout + stderr).toMatch(message);
    expect(stdout + stderr).not.toContain('my-client-token');
    expect(await textsBelow(cwd)).toEqual({ [path.join(cwd, 'a.zone')]: text });
  });
});

describe('get dns-templates --format zone', () => {
  it('prints relative names without --origin, and needs a template', async () => {
    const service = await startService();
    const launch = { cwd: await placeWith(), env: service.env };
    const { stdout } = await run(['get', 'dns-templates', 'voice', '--format', 'zone'], launch);
    expect(stdout.split('\n').slice(1, 3)).toEqual([
      'sip\t300\tIN\tA\t198.51.100.20',
      '_sip._tcp\t300\tIN\tSRV\t10 5 5060 sip.example.net.',
    ]);
    expect(await run(['get', 'dns-templates', '--format', 'zone'], launch)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--format zone needs the name or the id of a template'),
    });
  });

  it('prints what import --zone makes the same template of', async () => {
    const service = await startService();
    const launch = { cwd: await placeWith(), env: service.env };
    const shown = await run(
      ['get', 'dns-templates', 'voice', '--format', 'zone', '--origin', 'example.net'],
      launch,
    );
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toBe(
      [
        '; SOA and NS records, which a zone needs, are no part of a template.',
        'sip.example.net.\t300\tIN\tA\t198.51.100.20',
        '_sip._tcp.example.net.\t300\tIN\tSRV\t10 5 5060 sip.example.net.',
        '_sips._tcp.example.net.\t300\tIN\tSRV\t10 5 5060 sip.example.net.',
        '_sip._udp.example.net.\t300\tIN\tSRV\t10 5 5060 sip.example.net.',
        '',
      ].join('\n'),
    );
    await writeBelow(launch.cwd, 'voice.zone', shown.stdout);
    await run(['import', 'voice', '--zone', 'voice.zone', '--origin', 'example.net'], launch);
    const { stdout } = await run(['plan', '--format', 'json', '--ignore-subdomains'], launch);
    expect(reportOf(stdout)).toMatchObject({ status: 'in-sync' });
  });

  it.each([
    [['--format', 'zone', '--origin', '.'], /--origin: `\.` is not the name of a zone/],
    [['--origin', 'example.net'], /--origin goes with --format zone/],
  ])('%j ends with 1 and says why', async (words, message) => {
    const service = await startService();
    const launch = { cwd: await placeWith(), env: service.env };
    const ended = await run(['get', 'dns-template', 'voice', ...words], launch);
    expect(ended).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  });
});
