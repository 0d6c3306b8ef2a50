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

/** Each setting: its key in the file with a text and its value, its variable and flag with other ones. */
const everySetting: readonly {
  readonly key: string;
  readonly file: readonly [string, unknown];
  readonly env: readonly [string, string, unknown];
  readonly flag?: readonly [string, string | boolean | string[], unknown];
}[] = [
  {
    key: 'baseUrl',
    file: ['https://file.example/api/v1', 'https://file.example/api/v1'],
    env: ['DNS_SYNC_BASE_URL', 'https://env.example/api/v1//', 'https://env.example/api/v1'],
    flag: ['baseUrl', 'http://localhost:8080/api/v1', 'http://localhost:8080/api/v1'],
  },
  {
    key: 'templates',
    file: ['[zones, /srv/zones]', ['zones', '/srv/zones']],
    env: ['DNS_SYNC_TEMPLATES', 'a:./b:', ['a', 'b']],
    flag: ['templates', ['c', 'd:e'], ['c', 'd:e']],
  },
  {
    key: 'stateDir',
    file: ['/state/file', '/state/file'],
    env: ['DNS_SYNC_STATE_DIR', '/state/env', '/state/env'],
    flag: ['stateDir', '/state/flag', '/state/flag'],
  },
  {
    key: 'schedule',
    file: ['"*/7 * * * *"', '*/7 * * * *'],
    env: ['DNS_SYNC_SCHEDULE', '*/8 * * * *', '*/8 * * * *'],
    flag: ['schedule', '*/9 * * * *', '*/9 * * * *'],
  },
  {
    key: 'timezone',
    file: ['Europe/Berlin', 'Europe/Berlin'],
    env: ['DNS_SYNC_TIMEZONE', 'Europe/Paris', 'Europe/Paris'],
    flag: ['timezone', 'Europe/Rome', 'Europe/Rome'],
  },
  {
    key: 'dryRun',
    file: ['true', true],
    env: ['DNS_SYNC_DRY_RUN', 'false', false],
    flag: ['dryRun', true, true],
  },
  { key: 'mode', file: ['edits', 'edits'], env: ['DNS_SYNC_MODE', 'report', 'report'] },
  { key: 'surplus', file: ['park', 'park'], env: ['DNS_SYNC_SURPLUS', 'report', 'report'] },
  { key: 'adopt', file: ['true', true], env: ['DNS_SYNC_ADOPT', 'false', false] },
  { key: 'limits.maxAdds', file: ['0', 0], env: ['DNS_SYNC_MAX_ADDS', '7', 7] },
  { key: 'limits.maxAddsPerPass', file: ['5', 5], env: ['DNS_SYNC_MAX_ADDS_PER_PASS', '0', 0] },
  { key: 'limits.maxChangePercent', file: ['100', 100], env: ['DNS_SYNC_MAX_CHANGE_PERCENT', '0', 0] },
  { key: 'limits.minRecords', file: ['1', 1], env: ['DNS_SYNC_MIN_RECORDS', '2', 2] },
  { key: 'requestTimeout', file: ['1m', 60_000], env: ['DNS_SYNC_REQUEST_TIMEOUT', '500ms', 500] },
  { key: 'writeTimeout', file: ['1s', 1_000], env: ['DNS_SYNC_WRITE_TIMEOUT', '2s', 2_000] },
  { key: 'settle', file: ['0s', 0], env: ['DNS_SYNC_SETTLE', '1h', 3_600_000] },
  { key: 'unknownPause', file: ['1d', 86_400_000], env: ['DNS_SYNC_UNKNOWN_PAUSE', '30d', 30 * 86_400_000] },
  { key: 'concurrency', file: ['2', 2], env: ['DNS_SYNC_CONCURRENCY', '3', 3] },
  { key: 'subdomainGrace', file: ['1m', 60_000], env: ['DNS_SYNC_SUBDOMAIN_GRACE', '2m', 120_000] },
  { key: 'answers', file: ['on', 'on'], env: ['DNS_SYNC_ANSWERS', 'off', 'off'] },
  {
    key: 'answersSchedule',
    file: ["'5 * * * *'", '5 * * * *'],
    env: ['DNS_SYNC_ANSWERS_SCHEDULE', '6 * * * *', '6 * * * *'],
  },
  { key: 'answersGrace', file: ['1m', 60_000], env: ['DNS_SYNC_ANSWERS_GRACE', '2m', 120_000] },
  { key: 'resolver', file: ['192.0.2.53', '192.0.2.53'], env: ['DNS_SYNC_RESOLVER', '::1', '::1'] },
  {
    key: 'nameservers',
    file: ['[ns1.example.net]', ['ns1.example.net']],
    env: ['DNS_SYNC_NAMESERVERS', '192.0.2.53:5353,ns2.example.net', ['192.0.2.53:5353', 'ns2.example.net']],
  },
  {
    key: 'commitUrl',
    file: ['"https://git.example.net/dns/commit/{sha}"', 'https://git.example.net/dns/commit/{sha}'],
    env: ['DNS_SYNC_COMMIT_URL', 'http://localhost:3000/?c={sha}', 'http://localhost:3000/?c={sha}'],
  },
  {
    key: 'maxAnswerSize',
    file: ['2MiB', 2_097_152],
    env: ['DNS_SYNC_MAX_ANSWER_SIZE', '256MiB', 268_435_456],
  },
  {
    key: 'listen',
    file: ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    env: ['DNS_SYNC_LISTEN', '[::1]:8053', { host: '::1', port: 8053 }],
    flag: ['listen', 'off', null],
  },
  {
    key: 'allowedHosts',
    file: ['[Dns.Example.net]', ['dns.example.net']],
    env: ['DNS_SYNC_ALLOWED_HOSTS', 'a.example, b.example', ['a.example', 'b.example']],
  },
];

const inFile = (key: string, value: string): string =>
  key.startsWith('limits.') ? `limits: {${key.slice('limits.'.length)}: ${value}}\n` : `${key}: ${value}\n`;

const valueOf = (given: Given, key: string): unknown => {
  const settings = read(given);
  const [first] = settings.clients;
  const flat: Record<string, unknown> = { ...settings, ...first };
  for (const [name, limit] of Object.entries(first?.limits ?? {})) flat[`limits.${name}`] = limit;
  return flat[key];
};

describe('a setting', () => {
  it.each(everySetting)('$key comes from the file', ({ key, file: [text, value] }) => {
    expect(valueOf({ config: inFile(key, text) }, key)).toEqual(value);
  });

  it.each(everySetting)('$key comes from the environment before the file', ({ key, file, env }) => {
    const [name, text, value] = env;
    const config = inFile(key, file[0]);
    expect(valueOf({ config, env: { [name]: text } }, key)).toEqual(value);
    expect(valueOf({ config, env: { [name]: '' } }, key)).toEqual(file[1]);
  });

  it.each(everySetting.filter(({ flag }) => flag))('$key comes from the flag before all else', (setting) => {
    const { key, file, env, flag } = setting;
    const [name, given, value] = flag ?? ['config', '', null];
    const config = inFile(key, file[0]);
    expect(valueOf({ config, env: { [env[0]]: env[1] }, flags: { [name]: given } }, key)).toEqual(value);
  });
});

describe('LOG_LEVEL', () => {
  it('gives way to --log-level', () => {
    expect(read({ env: { LOG_LEVEL: 'debug' } }).logLevel).toBe('debug');
    expect(read({ env: { LOG_LEVEL: 'debug' }, flags: { logLevel: 'error' } }).logLevel).toBe('error');
  });
});

describe('a bad value', () => {
  it('of the usual state directory is a missing HOME', () => {
    const problem = 'HOME: required, or the directory of the saved state: --state-dir';
    expect(problemsOf({ env: { HOME: '' } })).toEqual([problem]);
  });

  it('is a text of YAML 1.1 too, since a text is a text', () => {
    const problem = 'dns-template-sync.yaml:3:9: dryRun: expected true or false';
    expect(problemsOf({ config: '%YAML 1.1\n---\ndryRun: yes' })).toEqual([problem]);
  });

  it.each([
    'baseUrl: https://panel.example.net\nbaseUrl: https://panel.example.net',
    'schedule: *five',
    '- baseUrl',
  ])('in a file that cannot be read is no second problem: %j', (config) => {
    expect(problemsOf({ config, needsService: true, flags: { client: ['acme'] } })).toHaveLength(1);
  });

  it.each([
    'SERVICE_HOST',
    'SERVICE_PORT',
    'PORT',
    'PORT_8053_TCP',
    'PORT_8053_TCP_ADDR',
    'USER_TOKEN_2',
    'ACME_TOKEN',
  ])('is not every variable that starts with DNS_SYNC_ (%s)', (name) => {
    expect(problemsOf({ env: { [`DNS_SYNC_${name}`]: 'x' } })).toEqual([]);
  });

  it('is told with all others at once', () => {
    const config = 'mode: force\nclients:\n  acme: {dryRun: 3}\n  other: {}\n';
    expect(
      problemsOf({ config, env: { LOG_LEVEL: 'x', DNS_SYNC_SURPLUS: 'y' }, flags: { timezone: 'z' } }),
    ).toEqual([
      expect.stringContaining(':1:7: mode'),
      expect.stringContaining('--timezone'),
      expect.stringContaining('DNS_SYNC_SURPLUS'),
      expect.stringContaining('LOG_LEVEL'),
      expect.stringContaining('clients.acme.dryRun'),
    ]);
  });
});

it.each([
  'https://git.example.net/commit',
  'https://git.example.net/{sha}/{sha}',
  'git.example.net/{sha}',
  'javascript:alert({sha})',
  'https://git.example.net/a b/{sha}',
  'https://{sha}.example.net/',
  'https://user:secret@git.example.net/{sha}',
])('commitUrl cannot be %s', (commitUrl) => {
  expect(problemsOf({ env: { DNS_SYNC_COMMIT_URL: commitUrl } })).toEqual([
    'DNS_SYNC_COMMIT_URL: expected an address such as https://git.example.net/dns/commit/{sha}, with {sha} once and without a user',
  ]);
});

describe('the base URL', () => {
  it.each([
    'http://localhost/api/v1',
    'http://127.0.0.1:8080/api/v1',
    'http://127.9.9.9/api/v1',
    'http://[::1]:8080/api/v1',
    'https://panel.example.net/api/v1',
  ])('may be %s', (baseUrl) => {
    expect(client({ flags: { baseUrl } }).baseUrl).toBe(baseUrl);
  });

  it.each(['http://panel.example.net', 'http://10.0.0.1', 'http://0.0.0.0', 'http://localhost.example.net'])(
    'needs allowInsecure for %s',
    (baseUrl) => {
      const problem =
        'http: would send the tokens unencrypted: use https:, or set allowInsecure: true in the settings file';
      expect(problemsOf({ flags: { baseUrl } })).toEqual([`--base-url: ${problem}`]);
      expect(problemsOf({ env: { DNS_SYNC_BASE_URL: baseUrl } })).toEqual([`DNS_SYNC_BASE_URL: ${problem}`]);
      expect(problemsOf({ config: `baseUrl: ${baseUrl}` })).toEqual([
        `dns-template-sync.yaml:1:10: baseUrl: ${problem}`,
      ]);
      rmSync(path.join(cwd, 'dns-template-sync.yaml'));
      expect(client({ flags: { baseUrl }, config: 'allowInsecure: true' }).baseUrl).toBe(baseUrl);
    },
  );

  it.each([
    'panel.example.net',
    'ftp://x',
    'https://',
    'https://u:p@x/',
    'https://x/?user_token=t',
    'https://x/#t',
  ])('cannot be %s, and the message does not repeat it', (baseUrl) => {
    expect(problemsOf({ flags: { baseUrl } })).toEqual([
      '--base-url: expected an address such as https://panel.example.net/api/v1, without user, query or fragment',
    ]);
  });

  it('cannot be given together with --sandbox', () => {
    const flags = { sandbox: true, baseUrl: 'https://panel.example.net/api/v1' };
    expect(problemsOf({ needsService: true, flags })).toEqual([
      '--base-url: the embedded service of --sandbox would take its place: keep one of them',
    ]);
  });

  it('gives way to --sandbox where environment or file say it', () => {
    const env = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };
    const config = 'baseUrl: https://panel.example.net/api/v1';
    expect(read({ needsService: true, flags: { sandbox: true }, env, config }).sandbox).toBe(true);
  });

  it('and the tokens are required where the command needs them', () => {
    expect(problemsOf({ needsService: true })).toEqual([
      'baseUrl: required: --base-url, DNS_SYNC_BASE_URL or baseUrl in the settings file (or --sandbox, to try things out)',
      'userToken: required: DNS_SYNC_USER_TOKEN, DNS_SYNC_USER_TOKEN_FILE or userToken in the settings file',
      'clientToken: required: DNS_SYNC_CLIENT_TOKEN, DNS_SYNC_CLIENT_TOKEN_FILE or clientToken in the settings file',
    ]);
    expect(read({ needsService: true, flags: { sandbox: true } }).sandbox).toBe(true);
  });
});

describe('tokens', () => {
  const address = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };
  const both = { userToken: 'user-secret', clientToken: 'client-secret' };

  it('come from the environment', () => {
    expect(client({ needsService: true, env: { ...address, ...tokens } }).tokens.read()).toMatchObject(both);
  });

  it('come from files, without the newline at the end', () => {
    write('user', 'user-secret\n');
    write('client', '\ufeffclient-secret\r\n');
    const env = {
      ...address,
      DNS_SYNC_USER_TOKEN_FILE: 'user',
      DNS_SYNC_CLIENT_TOKEN_FILE: path.join(cwd, 'client'),
    };
    expect(client({ needsService: true, env }).tokens.read()).toMatchObject(both);
  });

  it('come from where the settings file says, seen from its folder', () => {
    write('secrets/client', 'client-secret\n');
    write('conf/sync.yaml', 'userToken: {env: MY_TOKEN}\nclientToken: {file: ../secrets/client}\n');
    const given = {
      needsService: true,
      env: { ...address, MY_TOKEN: 'user-secret' },
      flags: { config: 'conf/sync.yaml' },
    };
    expect(client(given).tokens.read()).toMatchObject(both);
    expect(client(given).tokens.read().places).toBe(
      'conf/sync.yaml:1:12: userToken, conf/sync.yaml:2:14: clientToken',
    );
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

  const bad =
    'the secret is not one line of at least 4 characters, without blanks at its ends and control characters, in UTF-8: check that all of it was given';

  it.each(['user-secret ', '\tuser-secret', 'user-secret\u00a0\n', 'abc', ''])(
    'are refused as they are in %j',
    (secret) => {
      write('user', secret);
      const others = { ...address, DNS_SYNC_CLIENT_TOKEN: 'client-secret' };
      const told = (env: Record<string, string>): string[] =>
        problemsOf({ needsService: true, env: { ...others, ...env } });
      expect(told({ DNS_SYNC_USER_TOKEN_FILE: 'user' })).toEqual([`DNS_SYNC_USER_TOKEN_FILE: ${bad}`]);
      if (secret !== '')
        expect(told({ DNS_SYNC_USER_TOKEN: secret })).toEqual([`DNS_SYNC_USER_TOKEN: ${bad}`]);
    },
  );

  it('are not read where no command needs them', () => {
    const env = { DNS_SYNC_USER_TOKEN_FILE: './none' };
    expect(() => client({ env }).tokens.read()).toThrow(
      `DNS_SYNC_USER_TOKEN_FILE: cannot read ${cwd}/none (it does not exist: ENOENT)`,
    );
  });

  it.each<[string, Given, string]>([
    [
      'both forms',
      { env: { ...tokens, DNS_SYNC_USER_TOKEN_FILE: 'f' } },
      'DNS_SYNC_USER_TOKEN: set together with DNS_SYNC_USER_TOKEN_FILE: keep one of them',
    ],
    [
      'an empty variable',
      { env: { ...tokens, DNS_SYNC_USER_TOKEN: '', DNS_SYNC_USER_TOKEN_FILE: ' ' } },
      'userToken: required: DNS_SYNC_USER_TOKEN, DNS_SYNC_USER_TOKEN_FILE or userToken in the settings file',
    ],
    [
      'a device without end',
      { env: { DNS_SYNC_CLIENT_TOKEN: 'client', DNS_SYNC_USER_TOKEN_FILE: '/dev/zero' } },
      'DNS_SYNC_USER_TOKEN_FILE: cannot read /dev/zero (it is not a regular file)',
    ],
    [
      'a file that is too large',
      { env: { DNS_SYNC_CLIENT_TOKEN: 'client', DNS_SYNC_USER_TOKEN_FILE: '/proc/kallsyms' } },
      'DNS_SYNC_USER_TOKEN_FILE: cannot read /proc/kallsyms (it is larger than 64 KiB)',
    ],
    ['two lines', { env: { ...tokens, DNS_SYNC_USER_TOKEN: 'one\ntwo' } }, `DNS_SYNC_USER_TOKEN: ${bad}`],
    ['no UTF-8', { env: { ...tokens, DNS_SYNC_USER_TOKEN: '\ufffdsecret' } }, `DNS_SYNC_USER_TOKEN: ${bad}`],
    [
      'a literal',
      { env: tokens, config: 'userToken: pasted-secret' },
      'dns-template-sync.yaml:1:12: userToken: expected {env: NAME} or {file: PATH}: secrets are not allowed in this file',
    ],
    [
      'two places',
      { env: tokens, config: 'userToken: {env: A, file: b}' },
      'dns-template-sync.yaml:1:12: userToken: expected {env: NAME} or {file: PATH}: secrets are not allowed in this file',
    ],
    [
      'a variable not set',
      { env: { DNS_SYNC_CLIENT_TOKEN: 'client' }, config: 'userToken: {env: MY_TOKEN}' },
      'dns-template-sync.yaml:1:12: userToken: the environment variable MY_TOKEN is not set',
    ],
  ])('with %s are a problem', (_, given, problem) => {
    expect(problemsOf({ ...given, needsService: true, env: { ...address, ...given.env } })).toEqual([
      problem,
    ]);
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

  it.each([
    ['triggerToken', 'DNS_SYNC_TRIGGER_TOKEN'],
    ['pageToken', 'DNS_SYNC_PAGE_TOKEN'],
  ] as const)('also give the %s, which has 16 characters at least', (key, variable) => {
    write('token', '16 characters...\n');
    const ways: Given[] = [
      { env: { [`${variable}_FILE`]: 'token' } },
      { env: { [variable]: '16 characters...' } },
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

describe('a store', () => {
  const url = 'postgres://somebody:pass%20word@db.example.net/state';

  it('comes from a variable or a file, and its password is kept out of what is shown', () => {
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

  it.each(['mysql://somebody@db.example.net/state', 'db.example.net', 'sqlite'])(
    'is none as %s, and what was given is not repeated',
    (given) => {
      expect(problemsOf({ env: { DNS_SYNC_STORE: given } })).toEqual([
        'DNS_SYNC_STORE: expected postgres://USER:PASSWORD@HOST/DATABASE',
      ]);
    },
  );

  it('never stands in the settings file itself', () => {
    expect(problemsOf({ config: `store: ${url}` }).join()).toContain('secrets are not allowed in this file');
  });
});

describe('NODE_TLS_REJECT_UNAUTHORIZED=0', () => {
  const env = { ...tokens, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const baseUrl = 'https://panel.example.net';

  it('is refused by all that talks to the service', () => {
    expect(problemsOf({ flags: { baseUrl }, env, needsService: true })).toEqual([
      expect.stringMatching(/^NODE_TLS_REJECT_UNAUTHORIZED: 0 switches off .* NODE_EXTRA_CA_CERTS=FILE$/),
    ]);
  });

  it("is nobody else's matter", () => {
    read({ env });
    read({ flags: { sandbox: true }, env, needsService: true });
    read({ flags: { baseUrl }, env: { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '1' }, needsService: true });
  });
});

describe('a variable that would make several clients the same', () => {
  const config = `
templates: ./all
clients:
  acme: {templates: ./acme, clientToken: {env: ACME}, userToken: {env: USER}}
  other: {}
`;
  const env = { ACME: 'acme-secret', USER: 'user-secret' };
  const own = (key: string): string =>
    `would take the place of clients.acme.${key} in the settings file, for every client: unset it, or choose one client with --client`;

  it.each([
    ['DNS_SYNC_TEMPLATES', 'templates'],
    ['DNS_SYNC_CLIENT_TOKEN', 'clientToken'],
    ['DNS_SYNC_CLIENT_TOKEN_FILE', 'clientToken'],
    ['DNS_SYNC_USER_TOKEN', 'userToken'],
  ])('%s is an error', (variable, key) => {
    const needsService = true;
    expect(problemsOf({ config, env: { ...env, [variable]: 'something' }, needsService })).toContain(
      `${variable}: ${own(key)}`,
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
    expect(acme).toMatchObject({
      name: 'acme',
      baseUrl: 'https://panel.example.net/api/v1',
      templates: ['zones/acme'],
      mode: 'report',
      limits: { maxAdds: 7, minRecords: 6 },
      vars: {
        override: { web: 'x=y' },
        client: { web: '1.10' },
        config: { web: '203.0.113.1', port: '010' },
      },
    });
    expect(other).toMatchObject({
      name: 'other',
      baseUrl: 'https://other.example.net/api/v1',
      templates: ['templates'],
      mode: 'edits',
      limits: { maxAdds: 5, minRecords: 6 },
      vars: { client: {}, config: { web: '203.0.113.1' } },
    });
    expect(acme?.tokens.read().clientToken).toBe('acme-secret');
    expect(other?.tokens.read().clientToken).toBe('other-secret');
  });

  it('give way to the environment all together', () => {
    const { clients } = read({ config, env: { ...env, DNS_SYNC_MODE: 'enforce' }, needsService: true });
    expect(clients.map(({ mode }) => mode)).toEqual(['enforce', 'enforce']);
  });

  it('are one with --client, and the tokens of the others are not read', () => {
    const chosen = read({
      config,
      env: { ...env, ACME: '' },
      needsService: true,
      flags: { client: ['other'] },
    }).clients;
    expect(chosen.map(({ name }) => name)).toEqual(['other']);
    expect(problemsOf({ config, env, flags: { client: ['acne'] } })).toEqual([
      '--client: there is no client acne; did you mean `acme`?',
    ]);
  });

  it('cannot be the same one twice', () => {
    const same = 'baseUrl: https://x.example/\nclients: {a: {}, b: {baseUrl: "https://X.example:443"}}\n';
    expect(problemsOf({ config: same, env: tokens, needsService: true })).toEqual([
      'clients.a: the same base URL and client token as clients.b: keep one of them, or give each its own token',
      'clients.b: the same base URL and client token as clients.a: keep one of them, or give each its own token',
    ]);
  });
});

describe('a settings file', () => {
  const config = 'mode: report\n';

  it('is not read with --no-config or DNS_SYNC_CONFIG=off', () => {
    expect(client({ config }).mode).toBe('report');
    expect(client({ config, flags: { config: false } }).mode).toBe('enforce');
    expect(client({ config, env: { DNS_SYNC_CONFIG: 'off' } }).mode).toBe('enforce');
    expect(client({ config: ': no\n- YAML', env: { DNS_SYNC_CONFIG: 'off' } }).mode).toBe('enforce');
  });

  it('that is named on the command line is read whatever the variable says', () => {
    write('other.yaml', 'mode: edits\n');
    const env = { DNS_SYNC_CONFIG: 'off' };
    expect(client({ config, env, flags: { config: 'other.yaml' } }).mode).toBe('edits');
  });

  it('is named by a flag, not by the variable', () => {
    expect(problemsOf({ env: { DNS_SYNC_CONFIG: 'other.yaml' } })).toEqual([
      'DNS_SYNC_CONFIG: expected off; a settings file is given with --config',
    ]);
    expect(client({ config, env: { DNS_SYNC_CONFIG: '' } }).mode).toBe('report');
  });

  it('may end in .yml', () => {
    write('dns-template-sync.yml', config);
    expect(read()).toMatchObject({ configFile: 'dns-template-sync.yml', clients: [{ mode: 'report' }] });
  });

  it('has one name: others and a second one are an error, unless one is given', () => {
    write('dns-template-sync.yml', config);
    expect(problemsOf({ config })).toEqual([
      'dns-template-sync.yml: there is dns-template-sync.yaml too: keep one of them, or give one with --config',
    ]);
    for (const name of [
      'dns-template-sync.YAML',
      'DNS-template-sync.yml',
      'dns_template_sync.yaml',
      '.dns-template-sync.yaml',
    ]) {
      write(name, config);
      expect(problemsOf({ config })).toContain(
        `${name}: a settings file has the name dns-template-sync.yaml: rename it, or give it with --config`,
      );
      expect(client({ flags: { config: name } }).mode).toBe('report');
      expect(client({ flags: { config: false } }).mode).toBe('enforce');
      rmSync(path.join(cwd, name));
    }
  });

  it('that leads nowhere is not the same as none', () => {
    symlinkSync('nowhere', path.join(cwd, 'dns-template-sync.yaml'));
    expect(problemsOf({})).toEqual([
      'dns-template-sync.yaml: cannot read this file (it does not exist: ENOENT)',
    ]);
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

  it('that is a pipe, a device or far too large is a problem, and nobody waits for it', () => {
    execFileSync('mkfifo', [path.join(cwd, 'dns-template-sync.yaml')]);
    expect(problemsOf({})).toEqual([
      'dns-template-sync.yaml: cannot read this file (it is not a regular file)',
    ]);
    expect(problemsOf({ flags: { config: '/dev/zero' } })).toEqual([
      '/dev/zero: cannot read this file (it is not a regular file)',
    ]);
    expect(problemsOf({ flags: { config: '/proc/kallsyms' } })).toEqual([
      '/proc/kallsyms: cannot read this file (it is larger than 1024 KiB)',
    ]);
  });
});

describe('with CI set, a settings file that nobody has named', () => {
  const address = 'https://panel.example.net/api/v1';
  const env = { ...tokens, CI: 'true', DNS_SYNC_BASE_URL: address };
  const refusal =
    /^dns-template-sync\.yaml:.*where CI is set, .* does not decide where tokens .* go: name it with --config/;

  it.each([
    `baseUrl: ${address}\n`,
    'proxy: http://proxy.example.net\n',
    'ca: /etc/hostname\n',
    'allowInsecure: true\n',
    'notify: {ops: {type: webhook, url: "https://ops.example.net"}}\n',
    `clients: {acme: {baseUrl: "${address}", clientToken: {env: DNS_SYNC_CLIENT_TOKEN}}}\n`,
  ])('does not say where tokens of the environment go: %s', (config) => {
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

  it('neither do the files of clients that it names', () => {
    write('clients/acme.yaml', `baseUrl: ${address}\n`);
    expect(
      problemsOf({ config: 'clients: clients\n', env: { ...tokens, CI: '1' }, needsService: true }),
    ).toEqual([expect.stringMatching(/^clients\/acme\.yaml:1:10: baseUrl: where CI is set/)]);
  });
});

describe('a value in quotes, as from --env-file of docker', () => {
  const advice =
    'the quotes around the value are a part of it, as they are with --env-file of docker: remove them';

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
  ])('is the one problem of %s', (name, value) => {
    const env = { ...tokens, DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1', [name]: value };
    expect(problemsOf({ env, needsService: true })).toEqual([`${name}: ${advice}`]);
  });

  it('also where the settings file names the variable', () => {
    const flags = { baseUrl: 'https://panel.example.net' };
    const env = { ...tokens, DNS_SYNC_USER_TOKEN: '', MINE: '"user-secret"' };
    const needsService = true;
    expect(problemsOf({ config: 'userToken: {env: MINE}\n', env, flags, needsService })).toEqual([
      `dns-template-sync.yaml:1:12: userToken: ${advice}`,
    ]);
  });
});

describe('an empty variable is as one that is not set', () => {
  it.each(['', ' '])('%j', (nothingThere) => {
    const names = [
      ...everySetting.map(({ env: [name] }) => name),
      'DNS_SYNC_STORE',
      'DNS_SYNC_STORE_FILE',
      'DNS_SYNC_TRIGGER_TOKEN',
      'DNS_SYNC_PAGE_TOKEN_FILE',
      'DNS_SYNC_CONFIG',
      'DNS_SYNC_USER_TOKEN_FILE',
      'LOG_LEVEL',
      'XDG_STATE_HOME',
      'https_proxy',
      'no_proxy',
      'NODE_TLS_REJECT_UNAUTHORIZED',
    ];
    const env = Object.fromEntries(names.map((name) => [name, nothingThere]));
    const given = { ...tokens, NO_PROXY: '*', HTTPS_PROXY: 'http://proxy.example.net' };
    const flags = { baseUrl: 'https://panel.example.net/api/v1' };
    const plain = read({ flags, env: given, needsService: true });
    const settings = read({ flags, env: { ...env, ...given }, needsService: true });
    expect(JSON.stringify(settings)).toBe(JSON.stringify(plain));
    expect(settings.clients[0]?.proxy).toBeNull();
  });
});

describe('a token where a path or a name belongs', () => {
  const address = { DNS_SYNC_BASE_URL: 'https://panel.example.net/api/v1' };
  const token = '8f14e45fceea167a5a36dedd4bea2543';

  it.each<[Given]>([
    [{ env: { DNS_SYNC_USER_TOKEN_FILE: token } }],
    [{ env: { DNS_SYNC_USER_TOKEN_FILE: 'hunter2' } }],
    [{ env: { DNS_SYNC_CLIENT_TOKEN_FILE: `${token}/+8f==` } }],
    [{ env: { DNS_SYNC_STORE_FILE: token } }],
    [{ env: { DNS_SYNC_TEMPLATES: token } }],
    [{ env: { DNS_SYNC_STATE_DIR: token } }],
    [{ env: { DNS_SYNC_CA: token } }],
    [{ env: { DNS_SYNC_CONFIG: token } }],
    [{ env: { DNS_SYNC_PROXY: token } }],
    [{ env: { HTTPS_PROXY: token } }],
    [{ env: { DNS_SYNC_NAMESERVERS: token } }],
    [{ env: { DNS_SYNC_TIMEZONE: token } }],
    [{ config: `userToken: {env: ${token}}\n` }],
    [{ config: `userToken: {env: A${token}}\n` }],
    [{ config: `userToken: {file: ${token}}\n` }],
    [{ config: `templates: ${token}\n` }],
  ])('is named by its place alone: %j', (given) => {
    const told = problemsOf({ ...given, env: { ...address, ...given.env }, needsService: true }).join('\n');
    expect(told).toMatch(/DNS_SYNC|HTTPS_PROXY|dns-template-sync\.yaml:1/);
    expect(told).not.toMatch(/8f14e45|hunter2/i);
  });

  it('but a path is shown that is one', () => {
    write('secrets/other', 'x');
    const told = (file: string): string =>
      problemsOf({
        env: { ...address, DNS_SYNC_CLIENT_TOKEN: 'client-secret', DNS_SYNC_USER_TOKEN_FILE: file },
        needsService: true,
      }).join();
    for (const file of ['secrets/user', './user', '/tmp/8/user'])
      expect(told(file)).toContain(path.resolve(cwd, file));
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

describe('paths', () => {
  it('in the settings file count from its folder', () => {
    write('conf/sync.yaml', 'templates: [zones, ../more, /abs/./zones, ../../out]\nstateDir: state\n');
    expect(client({ flags: { config: 'conf/sync.yaml' } })).toMatchObject({
      templates: ['conf/zones', 'more', '/abs/zones', path.resolve(cwd, '../out')],
      stateDir: path.join(cwd, 'conf/state'),
    });
  });

  it('elsewhere count from the working directory', () => {
    expect(client({ flags: { templates: ['zones'], stateDir: 'state' } })).toMatchObject({
      templates: ['zones'],
      stateDir: path.join(cwd, 'state'),
    });
  });
});
