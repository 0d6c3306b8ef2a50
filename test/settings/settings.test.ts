import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { namesIn, settingsPlace, type Given } from './place.ts';

const { at, write, read, client, problemsOf } = settingsPlace();

const baseUrl = 'https://panel.example.net/api/v1';
const tokens = { DNS_SYNC_USER_TOKEN: 'user-secret', DNS_SYNC_CLIENT_TOKEN: 'client-secret' };

/** Each setting: its default, its text in the file and value, those of its variable, and of its flag. Values are in JSON. */
const everySetting = `
  baseUrl | "" | https://file.example/api/v1 | "https://file.example/api/v1" | https://env.example/api/v1// | "https://env.example/api/v1" | "http://localhost:8080/api" | "http://localhost:8080/api"
  templates | ["templates"] | [zones, /srv/zones] | ["zones","/srv/zones"] | a:./b: | ["a","b"] | ["c","d:e"] | ["c","d:e"]
  stateDir | "/home/somebody/.local/state/dns-template-sync" | /file | "/file" | /env | "/env" | "/flag" | "/flag"
  schedule | "*/5 * * * *" | "*/7 * * * *" | "*/7 * * * *" | */8 * * * * | "*/8 * * * *" | "*/9 * * * *" | "*/9 * * * *"
  timezone | "UTC" | Europe/Berlin | "Europe/Berlin" | Europe/Paris | "Europe/Paris" | "Europe/Rome" | "Europe/Rome"
  dryRun | false | true | true | false | false | true | true
  mode | "enforce" | edits | "edits" | report | "report"
  surplus | "report" | park | "park" | report | "report"
  adopt | false | true | true | false | false
  limits.maxAdds | 100 | 0 | 0 | 7 | 7
  limits.maxAddsPerPass | 300 | 5 | 5 | 0 | 0
  limits.maxChangePercent | 30 | 100 | 100 | 0 | 0
  limits.minRecords | 10 | 1 | 1 | 2 | 2
  requestTimeout | 30000 | 1m | 60000 | 500ms | 500
  writeTimeout | 8000 | 1s | 1000 | 2s | 2000
  settle | 10000 | 0s | 0 | 1h | 3600000
  unknownPause | 300000 | 1d | 86400000 | 30d | 2592000000
  concurrency | 8 | 2 | 2 | 3 | 3
  subdomainGrace | 900000 | 1m | 60000 | 2m | 120000
  answers | "off" | on | "on" | off | "off"
  answersSchedule | "0 * * * *" | '5 * * * *' | "5 * * * *" | 6 * * * * | "6 * * * *"
  answersGrace | 3600000 | 1m | 60000 | 2m | 120000
  resolver | null | 192.0.2.53 | "192.0.2.53" | ::1 | "::1"
  nameservers | [] | [ns1.example.net] | ["ns1.example.net"] | 192.0.2.53:53,ns2.example.net | ["192.0.2.53:53","ns2.example.net"]
  commitUrl | null | "https://git.example.net/{sha}" | "https://git.example.net/{sha}" | http://localhost/?c={sha} | "http://localhost/?c={sha}"
  maxAnswerSize | 67108864 | 2MiB | 2097152 | 256MiB | 268435456
  listen | {"host":"127.0.0.1","port":8053} | 0.0.0.0:80 | {"host":"0.0.0.0","port":80} | [::1]:8053 | {"host":"::1","port":8053} | "off" | null
  allowedHosts | [] | [Dns.Example.net] | ["dns.example.net"] | a.example, b.example | ["a.example","b.example"]
  leaseDuration | 30000 | 1m | 60000 | 2s | 2000
  storeConnections | 10 | 4 | 4 | 5 | 5
  publicUrl | null | https://dns.example.net/ | "https://dns.example.net" | http://localhost | "http://localhost"`
  .trim()
  .split('\n')
  .map((row) => row.trim().split(' | '));

const variableOf = (key: string): string =>
  `DNS_SYNC_${key.replace('limits.', '').replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

it.each(everySetting)(
  '%s is %j, or comes from its flag, else its variable, else the file',
  (key = '', usual = '', text = '', ofFile = '', variable = '', ofVariable = '', flag = '', ofFlag = '') => {
    const valueOf = (given: Given): unknown => {
      const { clients, ...program } = read(given);
      const { limits, ...own } = clients[0]!;
      const ofLimits = Object.entries(limits).map(([name, limit]) => [`limits.${name}`, limit] as const);
      return { ...program, ...own, ...Object.fromEntries<unknown>(ofLimits) }[key];
    };
    const [first, second] = key.split('.');
    expect(valueOf({})).toEqual(JSON.parse(usual));
    const config = second === undefined ? `${key}: ${text}\n` : `${first}: {${second}: ${text}}\n`;
    expect(valueOf({ config })).toEqual(JSON.parse(ofFile));
    const env = { [variableOf(key)]: variable };
    expect(valueOf({ config, env })).toEqual(JSON.parse(ofVariable));
    if (flag === '') return;
    expect(valueOf({ config, env, flags: { [key]: JSON.parse(flag) } })).toEqual(JSON.parse(ofFlag));
  },
);

it('LOG_LEVEL gives way to --log-level, and the state may be where XDG_STATE_HOME says', () => {
  expect(read({ env: { LOG_LEVEL: 'debug' } }).logLevel).toBe('debug');
  expect(read({ env: { LOG_LEVEL: 'debug' }, flags: { logLevel: 'error' } }).logLevel).toBe('error');
  expect(client({ env: { XDG_STATE_HOME: '/var/lib' } }).stateDir).toBe('/var/lib/dns-template-sync');
  expect(client({ env: { XDG_STATE_HOME: 'relative' } }).stateDir).toMatch(/^\/home/);
});

it.each<[variable: string, values: readonly string[]]>([
  ['COMMIT_URL', ['https://git.example.net/{sha}/{sha}', 'git.example.net/{sha}', 'javascript:alert({sha})']],
  ['COMMIT_URL', ['https://x.example.net/a b/{sha}', 'https://{sha}.example.net/', 'https://u:p@x/{sha}']],
  ['BASE_URL', ['ftp://x', 'https://u:p@x/', 'https://x/?user_token=t', 'https://x/#t']],
  ['BASE_URL', ['http://10.0.0.1', 'http://0.0.0.0', 'http://localhost.example.net']],
  ['STORE', ['db.example.net', 'sqlite']],
])('DNS_SYNC_%s is refused as any of %j, which the message does not repeat', (name, values) => {
  for (const value of values) {
    const problems = problemsOf({ env: { [`DNS_SYNC_${name}`]: value } });
    expect(problems).toEqual([expect.stringMatching(`^DNS_SYNC_${name}: (expected|http: would send) `)]);
    expect(problems.join()).not.toContain(value);
  }
});

it('the base URL may be in clear to this machine, and to others with allowInsecure', () => {
  for (const url of ['http://localhost/api/v1', 'http://127.9.9.9:8080/api/v1', 'http://[::1]:8080/api/v1'])
    expect(client({ flags: { baseUrl: url } }).baseUrl).toBe(url);
  const flags = { baseUrl: 'http://panel.example.net' };
  expect(client({ flags, config: 'allowInsecure: true' }).baseUrl).toBe(flags.baseUrl);
});

it('no more is wrong than has to be said', () => {
  const flags = { client: ['acme'], baseUrl };
  for (const config of [`baseUrl: ${baseUrl}\nbaseUrl: ${baseUrl}`, 'schedule: *five', '- baseUrl'])
    expect(problemsOf({ config, needsService: true, flags, env: tokens })).toHaveLength(1);
  // What Kubernetes makes for a service of that name, and names of one's own.
  const names = 'SERVICE_HOST SERVICE_PORT PORT PORT_8053_TCP PORT_8053_TCP_ADDR USER_TOKEN_2 ACME_TOKEN';
  const env = Object.fromEntries(names.split(' ').map((name) => [`DNS_SYNC_${name}`, 'x']));
  expect(problemsOf({ config: '', env })).toEqual([]);
  // What no request of this program would obey.
  const insecure = { ...tokens, NODE_TLS_REJECT_UNAUTHORIZED: '0', DNS_SYNC_BASE_URL: baseUrl };
  expect(problemsOf({ env: insecure })).toEqual([]);
  expect(problemsOf({ env: insecure, flags: { sandbox: true }, needsService: true })).toEqual([]);
  expect(problemsOf({ env: insecure, needsService: true })).toHaveLength(1);
});

describe('tokens', () => {
  const address = { DNS_SYNC_BASE_URL: baseUrl };

  it('come from the environment, from files without the newline at the end, and from where the settings file says', () => {
    write('user', 'user-secret\n');
    write('secrets/client', '\ufeffclient-secret\r\n');
    write('conf/sync.yaml', 'userToken: {env: MY_TOKEN}\nclientToken: {file: ../secrets/client}\n');
    const files = { DNS_SYNC_USER_TOKEN_FILE: 'user', DNS_SYNC_CLIENT_TOKEN_FILE: at('secrets/client') };
    const ways: readonly Given[] = [
      { env: tokens },
      { env: files },
      { env: { MY_TOKEN: 'user-secret' }, flags: { config: 'conf/sync.yaml' } },
    ];
    for (const way of ways) {
      const { tokens: found } = client({ ...way, needsService: true, env: { ...address, ...way.env } });
      expect(found.read()).toMatchObject({ userToken: 'user-secret', clientToken: 'client-secret' });
    }
  });

  it('are read again when asked for again, and every value stays known as a secret', () => {
    write('user', 'first-secret\n');
    const env = { ...address, DNS_SYNC_USER_TOKEN_FILE: 'user', DNS_SYNC_CLIENT_TOKEN: 'client-secret' };
    const settings = read({ needsService: true, env });
    write('user', 'second-secret\n');
    expect(settings.clients[0]?.tokens.read().userToken).toBe('second-secret');
    expect(settings.secrets().toSorted()).toEqual(['client-secret', 'first-secret', 'second-secret']);
  });

  it.each(['user-secret ', '\tuser-secret', 'user-secret\u00a0\n', 'abc', '', 'one\ntwo', '\ufffdsecret'])(
    'are refused as they are in %j',
    (secret) => {
      write('user', secret);
      const env = { ...address, ...tokens, DNS_SYNC_USER_TOKEN: secret };
      const { DNS_SYNC_USER_TOKEN: _, ...others } = env;
      const ways = { DNS_SYNC_USER_TOKEN_FILE: { ...others, DNS_SYNC_USER_TOKEN_FILE: 'user' } };
      for (const [place, one] of Object.entries(secret === '' ? ways : { ...ways, DNS_SYNC_USER_TOKEN: env }))
        expect(problemsOf({ needsService: true, env: one })).toEqual([
          expect.stringContaining(`${place}: the secret is not one line of at least 4`),
        ]);
    },
  );

  it.each([
    ['/dev/zero', 'it is not a regular file'],
    ['/proc/kallsyms', 'it is larger than 64 KiB'],
  ])('are not read from %s, and not at all where no command needs them', (file, why) => {
    const env = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client', DNS_SYNC_USER_TOKEN_FILE: file };
    const problem = `DNS_SYNC_USER_TOKEN_FILE: cannot read ${file} (${why})`;
    expect(problemsOf({ env, needsService: true })).toEqual([problem]);
    expect(() => client({ env }).tokens.read()).toThrow(problem);
  });

  it('never stand in a message', () => {
    const config =
      'userToken: "pasted-secret\nclientToken: *pasted-secret\nmode: client-secret\n"client-secret": 1\n';
    const env = { ...tokens, DNS_SYNC_SCHEDULE: 'user-secret' };
    for (const text of [config, config.replace('"', ''), config.split('\n').slice(2).join('\n')]) {
      const told = problemsOf({ config: text, needsService: true, env }).join();
      expect(told).not.toBe('');
      expect(told).not.toMatch(/user-secret|client-secret|pasted-secret/);
    }
  });

  const token = '8f14e45fceea167a5a36dedd4bea2543';
  const variables =
    'USER_TOKEN_FILE STORE_FILE TEMPLATES STATE_DIR CA CONFIG PROXY NAMESERVERS TIMEZONE'.split(' ');
  it.each<[Given]>([
    ...variables.map((name): [Given] => [{ env: { [`DNS_SYNC_${name}`]: token } }]),
    [{ env: { DNS_SYNC_USER_TOKEN_FILE: 'hunter2' } }],
    [{ env: { DNS_SYNC_CLIENT_TOKEN_FILE: `${token}/+8f==` } }],
    [{ env: { HTTPS_PROXY: token } }],
    ...['userToken: {env: X}', 'userToken: {env: AX}', 'userToken: {file: X}', 'templates: X'].map(
      (line): [Given] => [{ config: line.replace('X', token) }],
    ),
  ])('where a path or a name belongs are named by their place alone: %j', (given) => {
    const told = problemsOf({ ...given, env: { ...address, ...given.env }, needsService: true }).join('\n');
    expect(told).toMatch(/DNS_SYNC|HTTPS_PROXY|dns-template-sync\.yaml:1/);
    expect(told).not.toMatch(/8f14e45|hunter2/i);
  });

  it.each(['secrets/user', './user', '/tmp/8/user'])('but a path is shown that is one: %s', (file) => {
    write('secrets/other', 'x');
    const env = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client-secret', DNS_SYNC_USER_TOKEN_FILE: file };
    expect(problemsOf({ env, needsService: true }).join()).toContain(path.resolve(at(), file));
  });

  it('that no command asked for are known on request, as far as they can be read', () => {
    write('client', 'client-secret');
    execFileSync('mkfifo', [at('pipe')]);
    const settings = read({
      config: 'clientToken: {file: client}\ntriggerToken: {env: TRIGGER}\n',
      env: { DNS_SYNC_USER_TOKEN_FILE: 'pipe', TRIGGER: 'a-trigger-token-of-length' },
    });
    expect(settings.secrets()).toEqual([]);
    expect(settings.allSecrets().toSorted()).toEqual(['a-trigger-token-of-length', 'client-secret']);
  });
});

it.each(['triggerToken', 'pageToken'] as const)(
  'the %s comes from a variable or a file, and has 16 characters at least',
  (key) => {
    write('token', '16 characters...\n');
    const ways: Given[] = [
      { env: { [`${variableOf(key)}_FILE`]: 'token' } },
      { env: { [variableOf(key)]: '16 characters...' } },
      { config: `${key}: {file: token}` },
    ];
    for (const given of ways) expect(read(given)[key]?.read()).toBe('16 characters...');
    write('token', '15 characters..\n');
    expect(() => read()[key]?.read()).toThrow(
      `dns-template-sync.yaml:1:${key.length + 3}: ${key}: the token has fewer than 16 characters`,
    );
  },
);

it('a store comes from a variable or a file, and its password is kept out of what is shown', () => {
  const url = 'postgres://somebody:pass%20word@db.example.net/state';
  write('store', `${url}\n`);
  const ways: Given[] = [
    { env: { DNS_SYNC_STORE: url } },
    { env: { DNS_SYNC_STORE_FILE: 'store' } },
    { env: { PLACE: url }, config: 'store: {env: PLACE}' },
    { config: 'store: {file: store}' },
  ];
  for (const given of ways) {
    const { store, secrets } = read(given);
    expect(store?.read()).toBe(url);
    expect(secrets()).toEqual(expect.arrayContaining([url, 'pass word']));
  }
});

describe('several clients', () => {
  const config = `
baseUrl: https://panel.example.net/api/v1
templates: ./all
mode: report
limits: {maxAdds: 5, minRecords: 6}
vars: {web: 203.0.113.1, port: 010}
clients:
  acme:
    clientToken: {env: ACME}
    templates: zones/acme
    limits: {maxAdds: 7}
    vars: {web: 1.10}
  other:
    userToken: {env: OTHER}
    clientToken: {env: OTHER}
    baseUrl: https://other.example.net/api/v1
    mode: edits
`;
  const env = { DNS_SYNC_USER_TOKEN: 'user-secret', ACME: 'acme-secret', OTHER: 'other-secret' };

  it('each have their own settings, and the common ones for the rest', () => {
    const given = { config: config.replace('userToken: {env: OTHER}', ''), env, needsService: true };
    const [acme, other] = read({ ...given, flags: { var: ['web=x=y'] } }).clients;
    const common = { web: '203.0.113.1', port: '010' };
    expect(acme).toMatchObject({
      name: 'acme',
      baseUrl,
      templates: ['zones/acme'],
      mode: 'report',
      limits: { maxAdds: 7, minRecords: 6 },
      vars: { override: { web: 'x=y' }, client: { web: '1.10' }, config: common },
    });
    expect(other).toMatchObject({
      name: 'other',
      baseUrl: 'https://other.example.net/api/v1',
      templates: ['all'],
      mode: 'edits',
      limits: { maxAdds: 5, minRecords: 6 },
      vars: { client: {}, config: common },
    });
    expect([acme?.tokens.read().clientToken, other?.tokens.read().clientToken]).toEqual([
      'acme-secret',
      'other-secret',
    ]);
    const { clients } = read({ ...given, env: { ...env, DNS_SYNC_MODE: 'enforce' } });
    expect(clients.map(({ mode }) => mode)).toEqual(['enforce', 'enforce']);
  });

  it('are one with --client, and the tokens of the others are not read', () => {
    const given = { config, env: { ...env, ACME: '' }, needsService: true, flags: { client: ['other'] } };
    expect(namesIn(read({ ...given, env: { OTHER: 'other-secret' } }))).toEqual(['other']);
  });

  it.each([
    ['DNS_SYNC_TEMPLATES', 'acme.templates'],
    ['DNS_SYNC_CLIENT_TOKEN', 'acme.clientToken'],
    ['DNS_SYNC_CLIENT_TOKEN_FILE', 'acme.clientToken'],
    ['DNS_SYNC_USER_TOKEN', 'other.userToken'],
  ])('are not made the same by %s', (variable, key) => {
    const given = { config, env: { ...env, [variable]: 'something' }, needsService: true };
    expect(problemsOf(given)).toContain(
      `${variable}: would take the place of clients.${key} in the settings file, for every client: unset it, or choose one client with --client`,
    );
    // Where one is chosen, and where none says it for itself.
    const mine = { DNS_SYNC_TEMPLATES: 'mine' };
    expect(client({ config, env: mine, flags: { client: ['acme'] } }).templates).toEqual(['mine']);
    expect(problemsOf({ config: 'templates: ./all\nclients: {a: {}, b: {}}\n', env: mine })).toEqual([]);
  });
});

describe('a settings file', () => {
  const config = 'mode: report\n';

  it.each<[Given, string]>([
    [{}, 'report'],
    [{ env: { DNS_SYNC_CONFIG: '' } }, 'report'],
    [{ flags: { config: false } }, 'enforce'],
    [{ env: { DNS_SYNC_CONFIG: 'off' } }, 'enforce'],
    [{ config: ': no\n- YAML', env: { DNS_SYNC_CONFIG: 'off' } }, 'enforce'],
    [{ env: { DNS_SYNC_CONFIG: 'off' }, flags: { config: 'other.yaml' } }, 'edits'],
  ])('is read unless it is switched off, and --config is stronger: %j', (given, mode) => {
    write('other.yaml', 'mode: edits\n');
    expect(client({ config, ...given }).mode).toBe(mode);
  });

  it('may end in .yml; other names and a second one are an error, unless one is given', () => {
    const advice =
      'the settings file is dns-template-sync.yaml: rename or remove this one, or give one with --config';
    write('dns-template-sync.yml', config);
    expect(read()).toMatchObject({ configFile: 'dns-template-sync.yml', clients: [{ mode: 'report' }] });
    expect(problemsOf({ config })).toEqual([`dns-template-sync.yml: ${advice}`]);
    for (const name of ['dns-template-sync.YAML', 'dns_template_sync.yaml', '.dns-template-sync.yaml']) {
      write(name, config);
      expect(problemsOf({ config })).toContain(`${name}: ${advice}`);
      expect(client({ flags: { config: name } }).mode).toBe('report');
      rmSync(at(name));
    }
  });

  it('that nobody has named is said, once', () => {
    const said: string[] = [];
    const say = (line: string): void => void said.push(line);
    const previous = read({ config, say });
    expect(said).toEqual(['settings from dns-template-sync.yaml, since it is there; --no-config reads none']);
    read({ previous, say });
    read({ flags: { config: 'dns-template-sync.yaml' }, say });
    read({ flags: { config: false }, say });
    expect(said).toHaveLength(1);
  });

  it('that leads nowhere, is a pipe, a device or far too large is a problem, and nobody waits for it', () => {
    symlinkSync('nowhere', at('dns-template-sync.yaml'));
    expect(problemsOf()).toEqual([expect.stringMatching(/^dns-template-sync\.yaml: .* does not exist/)]);
    execFileSync('mkfifo', [at('pipe')]);
    const irregular = 'it is not a regular file';
    const why = { pipe: irregular, '/dev/zero': irregular, '/proc/kallsyms': 'it is larger than 1024 KiB' };
    for (const [file, reason] of Object.entries(why))
      expect(problemsOf({ flags: { config: file } })).toEqual([`${file}: cannot read this file (${reason})`]);
  });

  it('has paths that count from its folder; all others count from the working directory', () => {
    write('conf/sync.yaml', 'templates: [zones, ../more, /abs/./zones, ../../out]\nstateDir: state\n');
    expect(client({ flags: { config: 'conf/sync.yaml' } })).toMatchObject({
      templates: ['conf/zones', 'more', '/abs/zones', at('../out')],
      stateDir: at('conf/state'),
    });
    expect(client({ flags: { stateDir: 'state' } }).stateDir).toBe(at('state'));
  });

  const env = { ...tokens, CI: 'true', DNS_SYNC_BASE_URL: baseUrl };
  it.each([
    `baseUrl: ${baseUrl}\n`,
    'proxy: http://proxy.example.net\n',
    'ca: /etc/hostname\n',
    'allowInsecure: true\n',
    'notify: {ops: {type: webhook, url: "https://ops.example.net"}}\n',
    `clients: {acme: {baseUrl: "${baseUrl}", clientToken: {env: DNS_SYNC_CLIENT_TOKEN}}}\n`,
    'clients: clients\n',
  ])('that nobody has named does not say where tokens of the environment go, with CI set: %s', (text) => {
    write('clients/acme.yaml', `baseUrl: ${baseUrl}\n`);
    const refusal = /\.yaml:.*where CI is set, .* does not decide where tokens .* go: name it with --config/;
    const given = { config: text, env, needsService: true };
    expect(problemsOf(given).filter((line) => refusal.test(line))).toHaveLength(1);
    for (const other of [
      { flags: { config: 'dns-template-sync.yaml' } },
      { needsService: false },
      { env: { ...env, CI: 'false' } },
      { env: { ...env, CI: '' } },
      { flags: { sandbox: true } },
    ])
      expect(problemsOf({ ...given, ...other }).join()).not.toContain('CI is set');
  });

  it('says the rest there, and everything where it names the tokens itself', () => {
    write('token', 'some-token\n');
    expect(client({ config, env, needsService: true }).mode).toBe('report');
    const own = `baseUrl: ${baseUrl}\nuserToken: {file: token}\nclientToken: {file: token}\n`;
    expect(client({ config: own, env: { CI: 'true' }, needsService: true }).baseUrl).toBe(baseUrl);
  });
});

it.each([
  ['DNS_SYNC_BASE_URL', `"${baseUrl}"`],
  ['DNS_SYNC_TEMPLATES', '"one:two"'],
  ['DNS_SYNC_DRY_RUN', '"true"'],
  ['LOG_LEVEL', '"debug"'],
  ['DNS_SYNC_USER_TOKEN', '"user-secret"'],
  ['HTTPS_PROXY', '"http://proxy.example.net"'],
  ['NO_PROXY', '"panel.example.net"'],
  ['XDG_STATE_HOME', "'/var/lib'"],
  ['MINE', '"user-secret"'],
])('a value in quotes, as from --env-file of docker, is the one problem: %s=%s', (name, value) => {
  const isMine = name === 'MINE';
  const own = isMine ? { DNS_SYNC_CLIENT_TOKEN: 'client-secret' } : tokens;
  const env = { ...own, DNS_SYNC_BASE_URL: baseUrl, [name]: value };
  const place = isMine ? 'dns-template-sync.yaml:1:12: userToken' : name;
  expect(problemsOf({ config: isMine ? 'userToken: {env: MINE}\n' : '', env, needsService: true })).toEqual([
    `${place}: the quotes around the value are a part of it, as they are with --env-file of docker: remove them`,
  ]);
});

it.each(['', ' '])('an empty variable is as one that is not set: %j', (nothingThere) => {
  const more =
    'DNS_SYNC_STORE DNS_SYNC_STORE_FILE DNS_SYNC_TRIGGER_TOKEN DNS_SYNC_PAGE_TOKEN_FILE DNS_SYNC_CONFIG DNS_SYNC_USER_TOKEN_FILE LOG_LEVEL XDG_STATE_HOME https_proxy no_proxy NODE_TLS_REJECT_UNAUTHORIZED';
  const names = [...everySetting.map(([key = '']) => variableOf(key)), ...more.split(' ')];
  const env = Object.fromEntries(names.map((name) => [name, nothingThere]));
  const given = { ...tokens, NO_PROXY: '*', HTTPS_PROXY: 'http://proxy.example.net' };
  const flags = { baseUrl };
  const settings = read({ flags, env: { ...env, ...given }, needsService: true });
  expect(JSON.stringify(settings)).toBe(JSON.stringify(read({ flags, env: given, needsService: true })));
  expect(settings.clients[0]?.proxy).toBeNull();
});
