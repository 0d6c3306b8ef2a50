import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Settings } from '../../src/settings.ts';
import { rowsOf } from '../rows.ts';
import { namesIn, settingsPlace, type Given } from './place.ts';

const { at, write, read, client, problemsOf } = settingsPlace();

const baseUrl = 'https://panel.example.net/api/v1';
const tokens = { DNS_SYNC_USER_TOKEN: 'user-secret', DNS_SYNC_CLIENT_TOKEN: 'client-secret' };
const env = { ...tokens, DNS_SYNC_BASE_URL: baseUrl };
/** What is told of settings with which the service is asked. */
const toldOf = (given: Given): string[] => problemsOf({ needsService: true, ...given });

/** Each setting: its default, its text in the file and value, those of its variable, and of its flag. Values are in JSON. */
const everySetting = rowsOf(`
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
  publicUrl | null | https://dns.example.net/ | "https://dns.example.net" | http://localhost | "http://localhost"`);

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
    const set = { [variableOf(key)]: variable };
    expect(valueOf({ config, env: set })).toEqual(JSON.parse(ofVariable));
    if (flag === '') return;
    expect(valueOf({ config, env: set, flags: { [key]: JSON.parse(flag) } })).toEqual(JSON.parse(ofFlag));
  },
);

it('LOG_LEVEL gives way to --log-level, and the state may be where XDG_STATE_HOME says', () => {
  expect(read({ env: { LOG_LEVEL: 'debug' } }).logLevel).toBe('debug');
  expect(read({ env: { LOG_LEVEL: 'debug' }, flags: { logLevel: 'error' } }).logLevel).toBe('error');
  expect(client({ env: { XDG_STATE_HOME: '/var/lib' } }).stateDir).toBe('/var/lib/dns-template-sync');
  expect(client({ env: { XDG_STATE_HOME: 'relative' } }).stateDir).toMatch(/^\/home/);
});

const refused = rowsOf(`
  COMMIT_URL | https://git.example.net/{sha}/{sha} git.example.net/{sha} javascript:alert({sha})
  COMMIT_URL | https://x.example.net/a%b/{sha} https://{sha}.example.net/ https://u:p@x/{sha}
  BASE_URL | ftp://x https://u:p@x/ https://x/?user_token=t https://x/#t
  BASE_URL | http://10.0.0.1 http://0.0.0.0 http://localhost.example.net
  STORE | db.example.net sqlite`);

it.each(refused)(
  'DNS_SYNC_%s is refused as any of %s, which no message repeats',
  (name = '', values = '') => {
    for (const value of values.split(' ').map((one) => one.replace('%', ' '))) {
      const problems = problemsOf({ env: { [`DNS_SYNC_${name}`]: value } });
      expect(problems).toEqual([expect.stringMatching(`^DNS_SYNC_${name}: (expected|http: would send) `)]);
      expect(problems.join()).not.toContain(value);
    }
  },
);

it('the base URL may be in clear to this machine, and to others with allowInsecure', () => {
  for (const url of ['http://localhost/api/v1', 'http://127.9.9.9:8080/api/v1', 'http://[::1]:8080/api/v1'])
    expect(client({ flags: { baseUrl: url } }).baseUrl).toBe(url);
  const flags = { baseUrl: 'http://panel.example.net' };
  expect(client({ flags, config: 'allowInsecure: true' }).baseUrl).toBe(flags.baseUrl);
});

it('no more is wrong than has to be said', () => {
  const flags = { client: ['acme'], baseUrl };
  for (const config of [`baseUrl: ${baseUrl}\nbaseUrl: ${baseUrl}`, 'schedule: *five', '- baseUrl'])
    expect(toldOf({ config, flags, env: tokens })).toHaveLength(1);
  // What Kubernetes makes for a service of that name, and names of one's own.
  const names = 'SERVICE_HOST SERVICE_PORT PORT PORT_8053_TCP PORT_8053_TCP_ADDR USER_TOKEN_2 ACME_TOKEN';
  const others = Object.fromEntries(names.split(' ').map((name) => [`DNS_SYNC_${name}`, 'x']));
  expect(problemsOf({ config: '', env: others })).toEqual([]);
  // What no request of this program would obey.
  const insecure = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(problemsOf({ env: insecure })).toEqual([]);
  expect(toldOf({ env: insecure, flags: { sandbox: true } })).toEqual([]);
  expect(toldOf({ env: insecure })).toHaveLength(1);
});

describe('secrets', () => {
  const store = 'postgres://somebody:pass%20word@db.example.net/state';

  it.each([
    ['userToken', 'some-secret'],
    ['clientToken', 'some-secret'],
    ['triggerToken', '16 characters...'],
    ['pageToken', '16 characters...'],
    ['store', store],
  ] as const)(
    '%s comes from a variable, from a file, or from where the settings file says',
    (key, secret) => {
      const secretIn = (settings: Settings): string | undefined =>
        key === 'userToken' || key === 'clientToken'
          ? settings.clients[0]?.tokens.read()[key]
          : settings[key]?.read();
      write('secrets/one', `\ufeff${secret}\r\n`);
      const { [variableOf(key)]: _, ...others } = env as Record<string, string>;
      for (const [more, text] of [
        [{ [variableOf(key)]: secret }, ''],
        [{ [`${variableOf(key)}_FILE`]: 'secrets/one' }, ''],
        [{ [`${variableOf(key)}_FILE`]: at('secrets/one') }, ''],
        [{ MY_SECRET: secret }, `${key}: {env: MY_SECRET}\n`],
        [{}, `${key}: {file: ../secrets/one}\n`],
      ] as const) {
        write('conf/sync.yaml', text);
        const given = {
          env: { ...others, ...more },
          flags: { config: 'conf/sync.yaml' },
          needsService: true,
        };
        expect(secretIn(read(given))).toBe(secret);
      }
    },
  );

  it('of this program have 16 characters at least, and the password of a store is one by itself', () => {
    write('token', '15 characters..\n');
    for (const key of ['triggerToken', 'pageToken'] as const)
      expect(() => read({ config: `${key}: {file: token}\n` })[key]?.read()).toThrow(
        `dns-template-sync.yaml:1:${key.length + 3}: ${key}: the token has fewer than 16 characters`,
      );
    const { secrets } = read({ config: '', env: { DNS_SYNC_STORE: store } });
    expect(secrets()).toEqual(expect.arrayContaining([store, 'pass word']));
  });

  it('are read again when asked for again, and every value stays known as a secret', () => {
    write('user', 'first-secret\n');
    const { DNS_SYNC_USER_TOKEN: _, ...others } = env;
    const settings = read({ needsService: true, env: { ...others, DNS_SYNC_USER_TOKEN_FILE: 'user' } });
    write('user', 'second-secret\n');
    expect(settings.clients[0]?.tokens.read().userToken).toBe('second-secret');
    expect(settings.secrets().toSorted()).toEqual(['client-secret', 'first-secret', 'second-secret']);
  });

  it.each(['user-secret ', '\tuser-secret', 'user-secret\u00a0\n', 'abc', '', 'one\ntwo', '\ufffdsecret'])(
    'are refused as they are in %j',
    (secret) => {
      write('user', secret);
      const { DNS_SYNC_USER_TOKEN: _, ...others } = env;
      for (const more of [{ DNS_SYNC_USER_TOKEN: secret }, { DNS_SYNC_USER_TOKEN_FILE: 'user' }]) {
        const [place, value] = Object.entries(more)[0]!;
        // An empty variable is none.
        if (value === '') continue;
        const problem = `${place}: the secret is not one line of at least 4`;
        expect(toldOf({ env: { ...others, ...more } })).toEqual([expect.stringContaining(problem)]);
      }
    },
  );

  it.each([
    ['/dev/zero', 'it is not a regular file'],
    ['/proc/kallsyms', 'it is larger than 64 KiB'],
  ])('are not read from %s, and not at all where no command needs them', (file, why) => {
    const given = { DNS_SYNC_BASE_URL: baseUrl, DNS_SYNC_CLIENT_TOKEN: 'client' };
    const problem = `DNS_SYNC_USER_TOKEN_FILE: cannot read ${file} (${why})`;
    const own = { ...given, DNS_SYNC_USER_TOKEN_FILE: file };
    expect(toldOf({ env: own })).toEqual([problem]);
    expect(() => client({ env: own }).tokens.read()).toThrow(problem);
  });

  it('never stand in a message', () => {
    const config =
      'userToken: "pasted-secret\nclientToken: *pasted-secret\nmode: client-secret\n"client-secret": 1\n';
    for (const text of [config, config.replace('"', ''), config.split('\n').slice(2).join('\n')]) {
      const told = toldOf({ config: text, env: { ...tokens, DNS_SYNC_SCHEDULE: 'user-secret' } }).join();
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
    const told = toldOf({ ...given, env: { DNS_SYNC_BASE_URL: baseUrl, ...given.env } }).join('\n');
    expect(told).toMatch(/DNS_SYNC|HTTPS_PROXY|dns-template-sync\.yaml:1/);
    expect(told).not.toMatch(/8f14e45|hunter2/i);
  });

  it.each(['secrets/user', './user', '/tmp/8/user'])('but a path is shown that is one: %s', (file) => {
    write('secrets/other', 'x');
    const { DNS_SYNC_USER_TOKEN: _, ...others } = env;
    const told = toldOf({ env: { ...others, DNS_SYNC_USER_TOKEN_FILE: file } }).join();
    expect(told).toContain(path.resolve(at(), file));
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
  const secrets = { DNS_SYNC_USER_TOKEN: 'user-secret', ACME: 'acme-secret', OTHER: 'other-secret' };

  it('each have their own settings, and the common ones for the rest', () => {
    const given = {
      config: config.replace('userToken: {env: OTHER}', ''),
      env: secrets,
      needsService: true,
    };
    const { clients } = read({ ...given, flags: { var: ['web=x=y'] } });
    const common = { web: '203.0.113.1', port: '010' };
    expect(clients).toMatchObject([
      {
        name: 'acme',
        baseUrl,
        templates: ['zones/acme'],
        mode: 'report',
        limits: { maxAdds: 7, minRecords: 6 },
        vars: { override: { web: 'x=y' }, client: { web: '1.10' }, config: common },
      },
      {
        name: 'other',
        baseUrl: 'https://other.example.net/api/v1',
        templates: ['all'],
        mode: 'edits',
        limits: { maxAdds: 5, minRecords: 6 },
        vars: { client: {}, config: common },
      },
    ]);
    const own = clients.map((one) => one.tokens.read().clientToken);
    expect(own).toEqual(['acme-secret', 'other-secret']);
    const { clients: others } = read({ ...given, env: { ...secrets, DNS_SYNC_MODE: 'enforce' } });
    expect(others.map(({ mode }) => mode)).toEqual(['enforce', 'enforce']);
  });

  it('are one with --client, and the tokens of the others are not read', () => {
    const given = { config, needsService: true, flags: { client: ['other'] } };
    expect(namesIn(read({ ...given, env: { OTHER: 'other-secret' } }))).toEqual(['other']);
  });

  it.each([
    ['DNS_SYNC_TEMPLATES', 'acme.templates'],
    ['DNS_SYNC_CLIENT_TOKEN', 'acme.clientToken'],
    ['DNS_SYNC_CLIENT_TOKEN_FILE', 'acme.clientToken'],
    ['DNS_SYNC_USER_TOKEN', 'other.userToken'],
  ])('are not made the same by %s', (variable, key) => {
    expect(toldOf({ config, env: { ...secrets, [variable]: 'something' } })).toContain(
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
    for (const more of [
      { previous },
      { flags: { config: 'dns-template-sync.yaml' } },
      { flags: { config: false } },
    ])
      read({ ...more, say });
    expect(said).toHaveLength(1);
  });

  it('that leads nowhere, is a pipe, a device, far too large or not UTF-8 is a problem, and nobody waits for it', () => {
    symlinkSync('nowhere', at('dns-template-sync.yaml'));
    expect(problemsOf()).toEqual([expect.stringMatching(/^dns-template-sync\.yaml: .* does not exist/)]);
    execFileSync('mkfifo', [at('pipe')]);
    const irregular = 'it is not a regular file';
    const why = { pipe: irregular, '/dev/zero': irregular, '/proc/kallsyms': 'it is larger than 1024 KiB' };
    for (const [file, reason] of Object.entries(why))
      expect(problemsOf({ flags: { config: file } })).toEqual([`${file}: cannot read this file (${reason})`]);
    write('latin.yaml', Buffer.from('vars: {extra: M\xfcller}\n', 'latin1'));
    expect(problemsOf({ flags: { config: 'latin.yaml' } })).toEqual([
      'latin.yaml: this is not UTF-8: save the file as UTF-8',
    ]);
  });

  it('has paths that count from its folder; all others count from the working directory', () => {
    write('conf/sync.yaml', 'templates: [zones, ../more, /abs/./zones, ../../out]\nstateDir: state\n');
    expect(client({ flags: { config: 'conf/sync.yaml' } })).toMatchObject({
      templates: ['conf/zones', 'more', '/abs/zones', at('../out')],
      stateDir: at('conf/state'),
    });
    expect(client({ flags: { stateDir: 'state' } }).stateDir).toBe(at('state'));
  });

  const ci = { ...env, CI: 'true' };
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
    const given = { config: text, env: ci };
    expect(toldOf(given).filter((line) => refusal.test(line))).toHaveLength(1);
    for (const other of [
      { flags: { config: 'dns-template-sync.yaml' } },
      { needsService: false },
      { env: { ...ci, CI: 'false' } },
      { env: { ...ci, CI: '' } },
      { flags: { sandbox: true } },
    ])
      expect(toldOf({ ...given, ...other }).join()).not.toContain('CI is set');
  });

  it('says the rest there, and everything where it names the tokens itself', () => {
    write('token', 'some-token\n');
    expect(client({ config, env: ci, needsService: true }).mode).toBe('report');
    const own = `baseUrl: ${baseUrl}\nuserToken: {file: token}\nclientToken: {file: token}\n`;
    expect(client({ config: own, env: { CI: 'true' }, needsService: true }).baseUrl).toBe(baseUrl);
  });
});

it.each(
  [
    'DNS_SYNC_BASE_URL="https://panel.example.net/api/v1" DNS_SYNC_TEMPLATES="one:two" DNS_SYNC_DRY_RUN="true"',
    'LOG_LEVEL="debug" DNS_SYNC_USER_TOKEN="user-secret" HTTPS_PROXY="http://proxy.example.net"',
    `NO_PROXY="panel.example.net" XDG_STATE_HOME='/var/lib' MINE="user-secret"`,
  ].flatMap((line) => line.split(' ')),
)('a value in quotes, as from --env-file of docker, is the one problem: %s', (variable) => {
  const [name = '', value = ''] = variable.split('=');
  const { DNS_SYNC_USER_TOKEN, ...others } = env;
  const isMine = name === 'MINE';
  const own = isMine ? others : { ...others, DNS_SYNC_USER_TOKEN };
  const place = isMine ? 'dns-template-sync.yaml:1:12: userToken' : name;
  expect(
    toldOf({ config: isMine ? 'userToken: {env: MINE}\n' : '', env: { ...own, [name]: value } }),
  ).toEqual([
    `${place}: the quotes around the value are a part of it, as they are with --env-file of docker: remove them`,
  ]);
});

it.each(['', ' '])('an empty variable is as one that is not set: %j', (nothingThere) => {
  const more =
    'DNS_SYNC_STORE DNS_SYNC_STORE_FILE DNS_SYNC_TRIGGER_TOKEN DNS_SYNC_PAGE_TOKEN_FILE DNS_SYNC_CONFIG DNS_SYNC_USER_TOKEN_FILE LOG_LEVEL XDG_STATE_HOME https_proxy no_proxy NODE_TLS_REJECT_UNAUTHORIZED';
  const names = [...everySetting.map(([key = '']) => variableOf(key)), ...more.split(' ')];
  const empty = Object.fromEntries(names.map((name) => [name, nothingThere]));
  const given = { ...tokens, NO_PROXY: '*', HTTPS_PROXY: 'http://proxy.example.net' };
  const flags = { baseUrl };
  const settings = read({ flags, env: { ...empty, ...given }, needsService: true });
  expect(JSON.stringify(settings)).toBe(JSON.stringify(read({ flags, env: given, needsService: true })));
  expect(settings.clients[0]?.proxy).toBeNull();
});
