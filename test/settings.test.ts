import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UserError } from '../src/errors.ts';
import { readSettings, type Settings, type SettingsRequest } from '../src/settings.ts';

type Flags = SettingsRequest['flags'];

const tokens = { DNS_SYNC_USER_TOKEN: 'user-secret', DNS_SYNC_CLIENT_TOKEN: 'client-secret' };

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'settings-')));
});
afterEach(() => {
  rmSync(cwd, { recursive: true });
});

interface Given {
  readonly flags?: Flags;
  readonly env?: Record<string, string>;
  readonly config?: string;
  readonly needsService?: boolean;
}

const read = (
  { flags = {}, env = {}, config, needsService = false }: Given = {},
  said?: string[],
): Settings => {
  if (config !== undefined) write('dns-template-sync.yaml', config);
  const say = (line: string): void => void said?.push(line);
  return readSettings({ flags, env: { HOME: '/home/somebody', ...env }, cwd, needsService, say });
};

const write = (name: string, content: string): void => {
  mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
  writeFileSync(path.join(cwd, name), content);
};

/** What the person is told, a line each, without the headline. */
const problemsOf = (given: Given): string[] => {
  try {
    read(given);
  } catch (error) {
    expect(error).toBeInstanceOf(UserError);
    const lines = error instanceof Error ? error.message.split('\n- ') : [];
    return lines.length > 1 ? lines.slice(1) : lines;
  }
  return [];
};

const client = (given?: Given): Settings['clients'][number] => {
  const [only, ...others] = read(given).clients;
  expect(others).toEqual([]);
  if (!only) throw new Error('no client');
  return only;
};

describe('defaults', () => {
  it('hold without flags, environment and file', () => {
    expect(read()).toEqual({
      clients: [
        {
          name: 'default',
          cwd,
          baseUrl: '',
          templates: ['templates'],
          stateDir: '/home/somebody/.local/state/dns-template-sync',
          schedule: '*/5 * * * *',
          timezone: 'UTC',
          dryRun: false,
          mode: 'enforce',
          surplus: 'report',
          adopt: false,
          limits: { maxAdds: 100, maxAddsPerPass: 300, maxChangePercent: 30, minRecords: 10 },
          requestTimeout: 30_000,
          writeTimeout: 8_000,
          settle: 10_000,
          unknownPause: 300_000,
          concurrency: 8,
          proxy: null,
          ca: null,
          subdomainGrace: 900_000,
          answers: 'off',
          answersSchedule: '0 * * * *',
          answersGrace: 3_600_000,
          resolver: null,
          nameservers: [],
          commitUrl: null,
          maxAnswerSize: 67_108_864,
          vars: { override: {}, client: {}, config: {} },
          tokens: { read: expect.any(Function) },
          places: expect.any(Function),
        },
      ],
      clientFiles: null,
      leftOut: [],
      listen: { host: '127.0.0.1', port: 8053 },
      allowedHosts: [],
      triggerToken: null,
      pageToken: null,
      store: null,
      leaseDuration: 30_000,
      storeConnections: 10,
      publicUrl: null,
      notify: [],
      logLevel: 'info',
      configFile: null,
      sandbox: false,
      allSecrets: expect.any(Function),
      secrets: expect.any(Function),
    });
  });

  it.each([
    [{ XDG_STATE_HOME: '/var/lib' }, '/var/lib/dns-template-sync'],
    [{ XDG_STATE_HOME: 'relative' }, '/home/somebody/.local/state/dns-template-sync'],
    [{ XDG_STATE_HOME: '/var/lib', DNS_SYNC_STATE_DIR: '/data' }, '/data'],
  ])('put the state of %j into %s', (env, stateDir) => {
    expect(client({ env }).stateDir).toBe(stateDir);
  });
});

/** Each setting: its text in the file and value, those of its variable, and of its flag. Values are in JSON. */
const everySetting = `
  baseUrl | https://file.example/api/v1 | "https://file.example/api/v1" | https://env.example/api/v1// | "https://env.example/api/v1" | "http://localhost:8080/api" | "http://localhost:8080/api"
  templates | [zones, /srv/zones] | ["zones","/srv/zones"] | a:./b: | ["a","b"] | ["c","d:e"] | ["c","d:e"]
  stateDir | /file | "/file" | /env | "/env" | "/flag" | "/flag"
  schedule | "*/7 * * * *" | "*/7 * * * *" | */8 * * * * | "*/8 * * * *" | "*/9 * * * *" | "*/9 * * * *"
  timezone | Europe/Berlin | "Europe/Berlin" | Europe/Paris | "Europe/Paris" | "Europe/Rome" | "Europe/Rome"
  dryRun | true | true | false | false | true | true
  mode | edits | "edits" | report | "report"
  surplus | park | "park" | report | "report"
  adopt | true | true | false | false
  limits.maxAdds | 0 | 0 | 7 | 7
  limits.maxAddsPerPass | 5 | 5 | 0 | 0
  limits.maxChangePercent | 100 | 100 | 0 | 0
  limits.minRecords | 1 | 1 | 2 | 2
  requestTimeout | 1m | 60000 | 500ms | 500
  writeTimeout | 1s | 1000 | 2s | 2000
  settle | 0s | 0 | 1h | 3600000
  unknownPause | 1d | 86400000 | 30d | 2592000000
  concurrency | 2 | 2 | 3 | 3
  subdomainGrace | 1m | 60000 | 2m | 120000
  answers | on | "on" | off | "off"
  answersSchedule | '5 * * * *' | "5 * * * *" | 6 * * * * | "6 * * * *"
  answersGrace | 1m | 60000 | 2m | 120000
  resolver | 192.0.2.53 | "192.0.2.53" | ::1 | "::1"
  nameservers | [ns1.example.net] | ["ns1.example.net"] | 192.0.2.53:53,ns2.example.net | ["192.0.2.53:53","ns2.example.net"]
  commitUrl | "https://git.example.net/{sha}" | "https://git.example.net/{sha}" | http://localhost/?c={sha} | "http://localhost/?c={sha}"
  maxAnswerSize | 2MiB | 2097152 | 256MiB | 268435456
  listen | 0.0.0.0:80 | {"host":"0.0.0.0","port":80} | [::1]:8053 | {"host":"::1","port":8053} | "off" | null
  allowedHosts | [Dns.Example.net] | ["dns.example.net"] | a.example, b.example | ["a.example","b.example"]`
  .trim()
  .split('\n')
  .map((row) => row.trim().split(' | '));

const variableOf = (key: string): string =>
  `DNS_SYNC_${key.replace('limits.', '').replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;

const valueOf = (given: Given, key: string): unknown => {
  const settings = read(given);
  const [first] = settings.clients;
  const flat: Record<string, unknown> = { ...settings, ...first };
  for (const [name, limit] of Object.entries(first?.limits ?? {})) flat[`limits.${name}`] = limit;
  return flat[key];
};

it.each(everySetting)(
  '%s comes from its flag, else its variable, else the file',
  (key = '', text = '', ofFile = '', variable = '', ofVariable = '', flag = '', ofFlag = '') => {
    const name = key.replace('limits.', '');
    const config = key === name ? `${key}: ${text}\n` : `limits: {${name}: ${text}}\n`;
    expect(valueOf({ config }, key)).toEqual(JSON.parse(ofFile));
    const env = { [variableOf(key)]: variable };
    expect(valueOf({ config, env }, key)).toEqual(JSON.parse(ofVariable));
    if (flag === '') return;
    expect(valueOf({ config, env, flags: { [key]: JSON.parse(flag) } }, key)).toEqual(JSON.parse(ofFlag));
  },
);

it('LOG_LEVEL gives way to --log-level', () => {
  expect(read({ env: { LOG_LEVEL: 'debug' } }).logLevel).toBe('debug');
  expect(read({ env: { LOG_LEVEL: 'debug' }, flags: { logLevel: 'error' } }).logLevel).toBe('error');
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

it.each([
  'http://localhost/api/v1',
  'http://127.9.9.9:8080/api/v1',
  'http://[::1]:8080/api/v1',
  'https://panel.example.net/api/v1',
])('the base URL may be %s', (baseUrl) => {
  expect(client({ flags: { baseUrl } }).baseUrl).toBe(baseUrl);
});

it('allowInsecure allows the base URL to be any in clear', () => {
  const flags = { baseUrl: 'http://panel.example.net' };
  expect(client({ flags, config: 'allowInsecure: true' }).baseUrl).toBe(flags.baseUrl);
});

it('the base URL gives way to --sandbox where environment or file say it', () => {
  const env = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };
  const config = 'baseUrl: https://panel.example.net/api/v1';
  expect(read({ needsService: true, flags: { sandbox: true }, env, config }).sandbox).toBe(true);
});

describe('a problem', () => {
  it('of the usual state directory is a missing HOME', () => {
    const problem = 'HOME: required, or the directory of the saved state: --state-dir';
    expect(problemsOf({ env: { HOME: '' } })).toEqual([problem]);
  });

  it.each([
    'baseUrl: https://panel.example.net\nbaseUrl: https://panel.example.net',
    'schedule: *five',
    '- baseUrl',
  ])('in a file that cannot be read is the only one: %j', (config) => {
    const flags = { client: ['acme'], baseUrl: 'https://panel.example.net' };
    expect(problemsOf({ config, needsService: true, flags, env: tokens })).toHaveLength(1);
  });

  it('is not every variable that starts with DNS_SYNC_', () => {
    const names = 'SERVICE_HOST SERVICE_PORT PORT PORT_8053_TCP PORT_8053_TCP_ADDR USER_TOKEN_2 ACME_TOKEN';
    const env = Object.fromEntries(names.split(' ').map((name) => [`DNS_SYNC_${name}`, 'x']));
    expect(problemsOf({ env })).toEqual([]);
  });

  it('is nothing that only others obey: NODE_TLS_REJECT_UNAUTHORIZED', () => {
    const env = { ...tokens, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    const flags = { baseUrl: 'https://panel.example.net' };
    read({ env });
    read({ flags: { sandbox: true }, env, needsService: true });
    read({ flags, env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '1' }, needsService: true });
  });
});

describe('tokens', () => {
  const address = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };

  it('come from the environment, from files without the newline at the end, and from where the settings file says', () => {
    write('user', 'user-secret\n');
    write('secrets/client', '\ufeffclient-secret\r\n');
    write('conf/sync.yaml', 'userToken: {env: MY_TOKEN}\nclientToken: {file: ../secrets/client}\n');
    const ways: readonly Given[] = [
      { env: tokens },
      {
        env: {
          DNS_SYNC_USER_TOKEN_FILE: 'user',
          DNS_SYNC_CLIENT_TOKEN_FILE: path.join(cwd, 'secrets/client'),
        },
      },
      { env: { MY_TOKEN: 'user-secret' }, flags: { config: 'conf/sync.yaml' } },
    ];
    for (const way of ways) {
      const { tokens: found } = client({ ...way, needsService: true, env: { ...address, ...way.env } });
      expect(found.read()).toMatchObject({ userToken: 'user-secret', clientToken: 'client-secret' });
    }
  });

  it('are read again when asked for again, and every value stays known as a secret', () => {
    write('user', 'first-secret\n');
    const settings = read({
      needsService: true,
      env: { ...address, DNS_SYNC_USER_TOKEN_FILE: 'user', DNS_SYNC_CLIENT_TOKEN: 'client-secret' },
    });
    write('user', 'second-secret\n');
    expect(settings.clients[0]?.tokens.read().userToken).toBe('second-secret');
    expect(settings.secrets().toSorted()).toEqual(['client-secret', 'first-secret', 'second-secret']);
  });

  it.each(['user-secret ', '\tuser-secret', 'user-secret\u00a0\n', 'abc', '', 'one\ntwo', '\ufffdsecret'])(
    'are refused as they are in %j',
    (secret) => {
      write('user', secret);
      const others = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client-secret' };
      for (const given of [{ DNS_SYNC_USER_TOKEN_FILE: 'user' }, { DNS_SYNC_USER_TOKEN: secret }]) {
        const [place] = Object.keys(given);
        if (Object.values(given).includes('')) continue;
        const told = problemsOf({ needsService: true, env: { ...others, ...given } });
        expect(told).toEqual([expect.stringContaining(`${place}: the secret is not one line of at least 4`)]);
      }
    },
  );

  it.each([
    ['/dev/zero', 'it is not a regular file'],
    ['/proc/kallsyms', 'it is larger than 64 KiB'],
  ])('are not read from %s', (file, why) => {
    const env = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client', DNS_SYNC_USER_TOKEN_FILE: file };
    expect(problemsOf({ env, needsService: true })).toEqual([
      `DNS_SYNC_USER_TOKEN_FILE: cannot read ${file} (${why})`,
    ]);
  });

  it('are not read where no command needs them', () => {
    const env = { DNS_SYNC_USER_TOKEN_FILE: './none' };
    expect(() => client({ env }).tokens.read()).toThrow(
      `DNS_SYNC_USER_TOKEN_FILE: cannot read ${cwd}/none (it does not exist: ENOENT)`,
    );
  });

  it('never stand in a message', () => {
    const config =
      'userToken: "pasted-secret\nclientToken: *pasted-secret\nmode: client-secret\n"client-secret": 1\n';
    for (const text of [config, config.replace('"', ''), config.split('\n').slice(2).join('\n')]) {
      const told = problemsOf({
        config: text,
        needsService: true,
        env: { ...tokens, DNS_SYNC_SCHEDULE: 'user-secret' },
      }).join();
      expect(told).not.toBe('');
      expect(told).not.toMatch(/user-secret|client-secret|pasted-secret/);
    }
  });

  it.each(['triggerToken', 'pageToken'] as const)('also give the %s, of 16 characters at least', (key) => {
    write('token', '16 characters...\n');
    const ways: Given[] = [
      { env: { [`${variableOf(key)}_FILE`]: 'token' } },
      { env: { [variableOf(key)]: '16 characters...' } },
      { config: `${key}: {file: token}` },
    ];
    for (const given of ways) expect(read(given)[key]?.read()).toBe('16 characters...');
    write('token', '15 characters..\n');
    const place = `dns-template-sync.yaml:1:${key.length + 3}: ${key}`;
    expect(() => read({ config: `${key}: {file: token}` })[key]?.read()).toThrow(
      `${place}: the token has fewer than 16 characters`,
    );
  });
});

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

describe('a variable that would make several clients the same', () => {
  const config = `
templates: ./all
clients:
  acme: {templates: ./acme, clientToken: {env: ACME}, userToken: {env: USER}}
  other: {}
`;
  const env = { ACME: 'acme-secret', USER: 'user-secret' };

  it.each([
    ['DNS_SYNC_TEMPLATES', 'templates'],
    ['DNS_SYNC_CLIENT_TOKEN', 'clientToken'],
    ['DNS_SYNC_CLIENT_TOKEN_FILE', 'clientToken'],
    ['DNS_SYNC_USER_TOKEN', 'userToken'],
  ])('%s is an error', (variable, key) => {
    const given = { config, env: { ...env, [variable]: 'something' }, needsService: true };
    expect(problemsOf(given)).toContain(
      `${variable}: would take the place of clients.acme.${key} in the settings file, for every client: unset it, or choose one client with --client`,
    );
  });

  it('is none where one is chosen, or where no client says it for itself', () => {
    const chosen = read({ config, env: { DNS_SYNC_TEMPLATES: 'mine' }, flags: { client: ['acme'] } });
    expect(chosen.clients.map(({ templates }) => templates)).toEqual([['mine']]);
    const shared = 'templates: ./all\nclients: {a: {}, b: {}}\n';
    expect(problemsOf({ config: shared, env: { DNS_SYNC_TEMPLATES: 'mine' } })).toEqual([]);
  });
});

describe('several clients', () => {
  const config = `
baseUrl: https://panel.example.net/api/v1
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
    clientToken: {env: OTHER}
    baseUrl: https://other.example.net/api/v1
    mode: edits
`;
  const env = { DNS_SYNC_USER_TOKEN: 'user-secret', ACME: 'acme-secret', OTHER: 'other-secret' };

  it('each have their own settings, and the common ones for the rest', () => {
    const [acme, other] = read({ config, env, needsService: true, flags: { var: ['web=x=y'] } }).clients;
    const common = { web: '203.0.113.1', port: '010' };
    expect(acme).toMatchObject({
      name: 'acme',
      baseUrl: 'https://panel.example.net/api/v1',
      templates: ['zones/acme'],
      mode: 'report',
      limits: { maxAdds: 7, minRecords: 6 },
      vars: { override: { web: 'x=y' }, client: { web: '1.10' }, config: common },
    });
    expect(other).toMatchObject({
      name: 'other',
      baseUrl: 'https://other.example.net/api/v1',
      templates: ['templates'],
      mode: 'edits',
      limits: { maxAdds: 5, minRecords: 6 },
      vars: { client: {}, config: common },
    });
    expect(acme?.tokens.read().clientToken).toBe('acme-secret');
    expect(other?.tokens.read().clientToken).toBe('other-secret');
  });

  it('give way to the environment all together', () => {
    const { clients } = read({ config, env: { ...env, DNS_SYNC_MODE: 'enforce' }, needsService: true });
    expect(clients.map(({ mode }) => mode)).toEqual(['enforce', 'enforce']);
  });

  it('are one with --client, and the tokens of the others are not read', () => {
    const given = { config, env: { ...env, ACME: '' }, needsService: true, flags: { client: ['other'] } };
    expect(read(given).clients.map(({ name }) => name)).toEqual(['other']);
  });
});

describe('a settings file', () => {
  const config = 'mode: report\n';

  it('is read unless --no-config or DNS_SYNC_CONFIG=off say otherwise, and --config is stronger', () => {
    const env = { DNS_SYNC_CONFIG: 'off' };
    write('other.yaml', 'mode: edits\n');
    const modes: readonly (readonly [Given, string])[] = [
      [{ config }, 'report'],
      [{ config, env: { DNS_SYNC_CONFIG: '' } }, 'report'],
      [{ config, flags: { config: false } }, 'enforce'],
      [{ config, env }, 'enforce'],
      [{ config: ': no\n- YAML', env }, 'enforce'],
      [{ config, env, flags: { config: 'other.yaml' } }, 'edits'],
    ];
    for (const [given, mode] of modes) expect([given, client(given).mode]).toEqual([given, mode]);
  });

  it('may end in .yml; other names and a second one are an error, unless one is given', () => {
    write('dns-template-sync.yml', config);
    expect(read()).toMatchObject({ configFile: 'dns-template-sync.yml', clients: [{ mode: 'report' }] });
    expect(problemsOf({ config })).toEqual([
      'dns-template-sync.yml: there is dns-template-sync.yaml too: keep one of them, or give one with --config',
    ]);
    for (const name of ['dns-template-sync.YAML', 'dns_template_sync.yaml', '.dns-template-sync.yaml']) {
      write(name, config);
      expect(problemsOf({ config })).toContain(
        `${name}: a settings file has the name dns-template-sync.yaml: rename it, or give it with --config`,
      );
      expect(client({ flags: { config: name } }).mode).toBe('report');
      rmSync(path.join(cwd, name));
    }
  });

  it('that nobody has named is said, once', () => {
    const said: string[] = [];
    const settings = read({ config }, said);
    expect(said).toEqual(['settings from dns-template-sync.yaml, since it is there; --no-config reads none']);
    const request = { flags: {}, env: { HOME: cwd }, cwd, needsService: false };
    readSettings({ ...request, previous: settings, say: (line) => said.push(line) });
    read({ config, flags: { config: 'dns-template-sync.yaml' } }, said);
    read({ config, flags: { config: false } }, said);
    expect(said).toHaveLength(1);
  });

  it('that leads nowhere, is a pipe, a device or far too large is a problem, and nobody waits for it', () => {
    symlinkSync('nowhere', path.join(cwd, 'dns-template-sync.yaml'));
    expect(problemsOf({})).toEqual([expect.stringMatching(/^dns-template-sync\.yaml: .* does not exist/)]);
    execFileSync('mkfifo', [path.join(cwd, 'pipe')]);
    for (const file of ['pipe', '/dev/zero'])
      expect(problemsOf({ flags: { config: file } })).toEqual([
        `${file}: cannot read this file (it is not a regular file)`,
      ]);
    expect(problemsOf({ flags: { config: '/proc/kallsyms' } })).toEqual([
      '/proc/kallsyms: cannot read this file (it is larger than 1024 KiB)',
    ]);
  });

  it('has paths that count from its folder; all others count from the working directory', () => {
    write('conf/sync.yaml', 'templates: [zones, ../more, /abs/./zones, ../../out]\nstateDir: state\n');
    expect(client({ flags: { config: 'conf/sync.yaml' } })).toMatchObject({
      templates: ['conf/zones', 'more', '/abs/zones', path.resolve(cwd, '../out')],
      stateDir: path.join(cwd, 'conf/state'),
    });
    expect(client({ flags: { stateDir: 'state' } }).stateDir).toBe(path.join(cwd, 'state'));
  });
});

describe('with CI set, a settings file that nobody has named', () => {
  const address = 'https://panel.example.net/api/v1';
  const env = { ...tokens, CI: 'true', DNS_SYNC_BASE_URL: address };
  const refusal = /\.yaml:.*where CI is set, .* does not decide where tokens .* go: name it with --config/;

  it.each([
    `baseUrl: ${address}\n`,
    'proxy: http://proxy.example.net\n',
    'ca: /etc/hostname\n',
    'allowInsecure: true\n',
    'notify: {ops: {type: webhook, url: "https://ops.example.net"}}\n',
    `clients: {acme: {baseUrl: "${address}", clientToken: {env: DNS_SYNC_CLIENT_TOKEN}}}\n`,
    'clients: clients\n',
  ])('does not say where tokens of the environment go: %s', (config) => {
    write('clients/acme.yaml', `baseUrl: ${address}\n`);
    const told = problemsOf({ config, env, needsService: true });
    expect(told.filter((line) => refusal.test(line))).toHaveLength(1);
    for (const given of [
      { flags: { config: 'dns-template-sync.yaml' } },
      { needsService: false },
      { env: { ...env, CI: 'false' } },
      { env: { ...env, CI: '' } },
      { flags: { sandbox: true } },
    ])
      expect(problemsOf({ config, env, needsService: true, ...given }).join()).not.toContain('CI is set');
  });

  it('may say the rest, and everything where it names the tokens itself', () => {
    write('token', 'some-token\n');
    expect(client({ config: 'mode: report\n', env, needsService: true }).mode).toBe('report');
    const config = `baseUrl: ${address}\nuserToken: {file: token}\nclientToken: {file: token}\n`;
    expect(client({ config, env: { CI: 'true' }, needsService: true }).baseUrl).toBe(address);
  });
});

it.each([
  ['DNS_SYNC_BASE_URL', '"https://panel.example.net/api/v1"'],
  ['DNS_SYNC_TEMPLATES', '"one:two"'],
  ['DNS_SYNC_STATE_DIR', "'/var/lib/state'"],
  ['DNS_SYNC_DRY_RUN', '"true"'],
  ['LOG_LEVEL', '"debug"'],
  ['DNS_SYNC_USER_TOKEN', '"user-secret"'],
  ['HTTPS_PROXY', '"http://proxy.example.net"'],
  ['NO_PROXY', '"panel.example.net"'],
  ['XDG_STATE_HOME', "'/var/lib'"],
  ['MINE', '"user-secret"'],
])('a value in quotes, as from --env-file of docker, is the one problem: %s=%s', (name, value) => {
  const config = name === 'MINE' ? 'userToken: {env: MINE}\n' : '';
  const own = name === 'MINE' ? { DNS_SYNC_CLIENT_TOKEN: 'client-secret' } : tokens;
  const env = { ...own, DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1', [name]: value };
  const place = name === 'MINE' ? 'dns-template-sync.yaml:1:12: userToken' : name;
  expect(problemsOf({ config, env, needsService: true })).toEqual([
    `${place}: the quotes around the value are a part of it, as they are with --env-file of docker: remove them`,
  ]);
});

it.each(['', ' '])('an empty variable is as one that is not set: %j', (nothingThere) => {
  const more =
    'DNS_SYNC_STORE DNS_SYNC_STORE_FILE DNS_SYNC_TRIGGER_TOKEN DNS_SYNC_PAGE_TOKEN_FILE DNS_SYNC_CONFIG DNS_SYNC_USER_TOKEN_FILE LOG_LEVEL XDG_STATE_HOME https_proxy no_proxy NODE_TLS_REJECT_UNAUTHORIZED';
  const names = [...everySetting.map(([key = '']) => variableOf(key)), ...more.split(' ')];
  const env = Object.fromEntries(names.map((name) => [name, nothingThere]));
  const given = { ...tokens, NO_PROXY: '*', HTTPS_PROXY: 'http://proxy.example.net' };
  const flags = { baseUrl: 'https://panel.example.net/api/v1' };
  const plain = read({ flags, env: given, needsService: true });
  const settings = read({ flags, env: { ...env, ...given }, needsService: true });
  expect(JSON.stringify(settings)).toBe(JSON.stringify(plain));
  expect(settings.clients[0]?.proxy).toBeNull();
});

describe('a token where a path or a name belongs', () => {
  const address = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };
  const token = '8f14e45fceea167a5a36dedd4bea2543';
  const variables =
    'USER_TOKEN_FILE STORE_FILE TEMPLATES STATE_DIR CA CONFIG PROXY NAMESERVERS TIMEZONE'.split(' ');

  it.each<[Given]>([
    ...variables.map((name): [Given] => [{ env: { [`DNS_SYNC_${name}`]: token } }]),
    [{ env: { DNS_SYNC_USER_TOKEN_FILE: 'hunter2' } }],
    [{ env: { DNS_SYNC_CLIENT_TOKEN_FILE: `${token}/+8f==` } }],
    [{ env: { HTTPS_PROXY: token } }],
    [{ config: `userToken: {env: ${token}}\n` }],
    [{ config: `userToken: {env: A${token}}\n` }],
    [{ config: `userToken: {file: ${token}}\n` }],
    [{ config: `templates: ${token}\n` }],
  ])('is named by its place alone: %j', (given) => {
    const told = problemsOf({ ...given, env: { ...address, ...given.env }, needsService: true }).join('\n');
    expect(told).toMatch(/DNS_SYNC|HTTPS_PROXY|dns-template-sync\.yaml:1/);
    expect(told).not.toMatch(/8f14e45|hunter2/i);
  });

  it.each(['secrets/user', './user', '/tmp/8/user'])('but a path is shown that is one: %s', (file) => {
    write('secrets/other', 'x');
    const env = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client-secret', DNS_SYNC_USER_TOKEN_FILE: file };
    expect(problemsOf({ env, needsService: true }).join()).toContain(path.resolve(cwd, file));
  });
});

it('secrets that no command asked for are known on request, as far as they can be read', () => {
  write('client', 'client-secret');
  execFileSync('mkfifo', [path.join(cwd, 'pipe')]);
  const settings = read({
    config: 'clientToken: {file: client}\ntriggerToken: {env: TRIGGER}\n',
    env: { DNS_SYNC_USER_TOKEN_FILE: 'pipe', TRIGGER: 'a-trigger-token-of-length' },
  });
  expect(settings.secrets()).toEqual([]);
  expect(settings.allSecrets().toSorted()).toEqual(['a-trigger-token-of-length', 'client-secret']);
});
