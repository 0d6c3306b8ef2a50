import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import type { RealityName } from '../../src/sandbox/realities.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { authority, secureFront } from '../network/certificates.ts';
import { run, workplace } from './program.ts';
import { clientToken, environment, userToken } from './service.ts';

const scene = async (...names: RealityName[]) => {
  const cwd = await workplace();
  const seen: string[] = [];
  const dataFile = path.join(cwd, 'service.json');
  const sandbox = await startSandbox({
    dataFile,
    realities: names,
    onRequest: ({ method, path: asked, status }) => seen.push(`${method} ${asked} ${status}`),
  });
  onTestFinished(() => sandbox.close());
  const env = { ...environment(sandbox.url), NO_COLOR: '1' };
  const examine = async (args: string[] = [], more: Record<string, string> = {}) => {
    const ended = await run(['doctor', '--format', 'json', ...args], { cwd, env: { ...env, ...more } });
    return { ...ended, found: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
  };
  return { cwd, seen, sandbox, env, examine };
};

/** A finding with this text. */
const saying = (about: string, state: string, text: string) =>
  expect.objectContaining({ about, state, text: expect.stringContaining(text) });

it.each<[names: RealityName[], set: Record<string, string>]>([
  [['get-form'], { getParameters: '"body"' }],
  [['get-json', 'list-key', 'pages-link'], { getParameters: '"json"', listKey: '"data"', pages: '"link"' }],
  [['pages-number', 'gzip'], { pages: '"page"' }],
  [['list-wrapped'], {}],
  [[], {}],
])(
  'finds what to set for a service that is %j, and the settings file that it gives works',
  async (names, set) => {
    const { cwd, seen, examine } = await scene(...names);
    const { code, found, stderr } = await examine();
    expect({ code, stderr, status: found.status, set: found.set }).toEqual({
      code: 0,
      stderr: '',
      status: 'ok',
      set,
    });
    expect(seen.filter((line) => !line.startsWith('GET'))).toEqual([]);
    await writeFile(path.join(cwd, 'dns-template-sync.yaml'), found.settings);
    const plan = await run(['plan'], {
      cwd,
      env: { DNS_SYNC_USER_TOKEN: userToken, DNS_SYNC_CLIENT_TOKEN: clientToken },
    });
    expect(plan).toMatchObject({ code: 0, stdout: expect.stringContaining('standard-web (17)') });
  },
);

it.each<[name: RealityName, finding: unknown]>([
  ['cut-listing', saying('subdomains', 'problem', 'the listing is not whole, so nothing may be added')],
  ['no-owner', saying('records', 'problem', 'without publicly_available')],
  ['placeholders', saying('records', 'note', 'have a placeholder, such as www.##DOMAIN##')],
  ['null-content', saying('records', 'note', 'of other types are counted, never written')],
  ['null-known', saying('records', 'note', 'or unreadable (900017: host.empty A), are counted')],
  ['empty-listing', saying('records', 'note', 'is the listing whole?')],
])('tells before any write that a service is %s', async (name, finding) => {
  const { examine } = await scene(name);
  expect((await examine()).found.findings).toContainEqual(finding);
});

it('shows how each field is spelled, how a wrong token is answered, and what surrounds the program', async () => {
  const { cwd, env } = await scene();
  const { code, stdout } = await run(['doctor'], { cwd, env });
  expect(code).toBe(0);
  for (const line of [
    /✓ address +connected to http:\/\/127\.0\.0\.1:\d+ in \d+ ms\n/,
    /! a wrong token +200, .*the same list as with the right ones/,
    /✓ +the subdomain itself: no name \(170: A 203\.0\.113\.10\)\n/,
    /✓ +TXT: not quoted \(179: TXT v=spf1 mx -all\)\n/,
    /✓ clock +agrees/,
    /✓ settings +baseUrl: DNS_SYNC_BASE_URL, .*userToken: DNS_SYNC_USER_TOKEN/,
    /✓ template files +5 templates in 5 files/,
    /\nuserToken: \{ env: DNS_SYNC_USER_TOKEN \}\n/,
  ])
    expect(stdout).toMatch(line);
  expect(stdout.split('\n').length).toBeLessThan(45);
  for (const token of [userToken, clientToken]) expect(stdout).not.toContain(token);
});

it('names the authority of a certificate, and one that is not trusted', async () => {
  const { sandbox, examine } = await scene();
  const port = await secureFront(Number(new URL(sandbox.url).port));
  const at = { DNS_SYNC_BASE_URL: `https://localhost:${port}/api/v1` };
  const distrusted = await examine([], at);
  expect(distrusted.code).toBe(1);
  expect(distrusted.found.findings).toContainEqual(
    saying('address', 'problem', 'an authority of your own is named with ca'),
  );
  const trusted = await examine([], { ...at, DNS_SYNC_CA: authority.file });
  expect(trusted.code).toBe(0);
  expect(trusted.found.findings).toContainEqual(
    saying('address', 'ok', 'certificate of authority, valid until'),
  );
  expect(trusted.found.settings).toContain(`ca: ${authority.file}\n`);
});

it('says that nothing answers, and asks once', async () => {
  const { sandbox, examine } = await scene();
  await sandbox.close();
  const { code, found } = await examine();
  expect(code).toBe(1);
  expect(found.findings).toContainEqual(saying('GET /dns_templates', 'problem', 'connection refused'));
});

it.each<[names: RealityName[], set: Record<string, string>, puts: string[]]>([
  [[], {}, ['200']],
  [['put-json', 'put-record'], { putParameters: '"json"', writeAnswers: '"listing"' }, ['415', '415', '200']],
  [['put-query', 'errors-200'], { putParameters: '"query"' }, ['200', '200']],
])('--write updates one record with its own values where a service is %j', async (names, set, puts) => {
  const { cwd, seen, examine } = await scene(...names);
  const data = (): Promise<string> => readFile(path.join(cwd, 'service.json'), 'utf8');
  const before = await data();
  const { code, found, stderr } = await examine(['--write', 'standard-web', 'www A', '--yes']);
  expect(code).toBe(0);
  expect(found.set).toEqual(set);
  expect(stderr).toContain('update_record of template 17 (standard-web): record_id=171 content=203.0.113.9');
  const path17 = '/api/v1/dns_templates/17/update_record';
  expect(seen.filter((line) => line.startsWith('PUT'))).toEqual(
    puts.map((status) => `PUT ${path17} ${status}`),
  );
  expect(JSON.parse(await data())).toEqual(JSON.parse(before));
});

it('--lag tells how long a listing takes to show a write, and what settle has to be', async () => {
  const { cwd, sandbox, examine } = await scene();
  const own = await readFile(path.join(cwd, 'service.json'), 'utf8');
  const front = await lateFront(sandbox.url, 700);
  const { code, found } = await examine(['--write', 'standard-web', 'www A', '--lag', '--yes'], {
    DNS_SYNC_BASE_URL: front,
    DNS_SYNC_SETTLE: '100ms',
  });
  expect(code).toBe(1);
  expect(found.findings).toContainEqual(saying('a changed ttl', 'problem', 'twice as long'));
  const seconds = Number(/settle: (\d+)s/.exec(found.settings)?.[1]);
  expect(seconds).toBeGreaterThanOrEqual(2);
  expect(JSON.parse(await readFile(path.join(cwd, 'service.json'), 'utf8'))).toEqual(JSON.parse(own));
});

/** A service whose listings show writes so many milliseconds later. */
const lateFront = async (url: string, late: number): Promise<string> => {
  const listings: { readonly at: number; readonly body: string }[] = [];
  const take = async (query: string): Promise<void> => {
    const answer = await fetch(`${url}/dns_templates${query}`);
    listings.push({ at: performance.now(), body: await answer.text() });
  };
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { pathname, search } = new URL(request.url!, 'http://front');
      const at = `${url}${pathname.replace('/api/v1', '')}`;
      if (request.method === 'GET' && pathname.endsWith('/dns_templates')) {
        await take(search);
        const from = performance.now() - late;
        const shown = listings.findLast((one) => one.at <= from) ?? listings[0]!;
        response.setHeader('content-type', 'application/json').end(shown.body);
        return;
      }
      const body = await textOf(request);
      const type = request.headers['content-type'] ?? 'text/plain';
      const sent = request.method === 'GET' ? {} : { body, headers: { 'content-type': type } };
      const got = await fetch(`${at}${search}`, { method: request.method!, ...sent });
      response.statusCode = got.status;
      response.setHeader('content-type', 'application/json').end(await got.text());
    };
    void answer();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`;
};

it('doctor writes nothing without all that --write needs, and to nothing that is not its own', async () => {
  const { seen, examine } = await scene();
  for (const [args, env, words] of [
    [['--write', 'standard-web', '171'], {}, 'this is not a terminal: give --yes'],
    [['--write', 'standard-web'], {}, 'doctor --write TEMPLATE RECORD'],
    [['171'], {}, 'doctor --write TEMPLATE RECORD'],
    [['--lag'], {}, '--lag needs --write'],
    [['--write', 'standard-web', '171', '--yes'], { DNS_SYNC_DRY_RUN: 'true' }, 'dryRun is set'],
    [['--write', 'standard-web', '999', '--yes'], {}, '0 records of standard-web are 999'],
    [['--write', 'mail-only', '@ MX', '--yes'], {}, '2 records of mail-only are @ MX'],
    [['--write', 'basic-hosting', '10', '--yes'], {}, 'is never written'],
  ] as [string[], Record<string, string>, string][]) {
    const { code, stderr } = await examine(args, env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(words) });
  }
  expect(seen.filter((line) => line.startsWith('PUT'))).toEqual([]);
});
