import path from 'node:path';
import { expect, it } from 'vitest';
import { run, workplace } from './program.ts';
import { clientToken, startService, userToken, type Meddling } from './service.ts';

const scene = async (meddle?: Meddling) => {
  const service = await startService(meddle);
  const cwd = await workplace();
  const examine = async (more: Record<string, string> = {}) => {
    const env = { ...service.env, ...more };
    const { code, stdout } = await run(['doctor', '--format', 'json'], { cwd, env });
    return { code, found: JSON.parse(stdout) };
  };
  return { service, cwd, examine };
};

/** A finding with this text. */
const saying = (about: string, state: string, text: string) =>
  expect.objectContaining({ about, state, text: expect.stringContaining(text) });

it('says in a few lines that all is well, and where everything comes from, and only reads', async () => {
  const { service, cwd } = await scene();
  const { code, stdout } = await run(['doctor'], { cwd, env: service.env });
  expect({ code, stdout: stdout.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST').replaceAll(cwd, 'CWD') }).toEqual({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(
        [
          String.raw`^dns-template-sync \S+, Node\.js \S+, client default`,
          String.raw`✓ service        http://HOST/api/v1 answers as specified`,
          String.raw`✓ templates      5 own templates with \d+ records, \d+ public`,
          String.raw`✓ two listings   0ms apart, they agree`,
          String.raw`✓ clock          agrees with that of the service`,
          String.raw`✓ settings       baseUrl: DNS_SYNC_BASE_URL, .*userToken: DNS_SYNC_USER_TOKEN.*`,
          String.raw`✓ template files 5 templates in 5 files, outside of git`,
          String.raw`! state          nothing saved yet in CWD/state/memory\.db: the first write waits .*\n$`,
        ].join('\\n'),
      ),
    ),
  });
  for (const token of [userToken, clientToken]) expect(stdout).not.toContain(token);
  expect(service.writes()).toEqual([]);
  expect(service.seen.filter(({ query }) => query.includes('token'))).toHaveLength(2);
});

it('says first that a base URL which fails has no /api/v1', async () => {
  const { service, examine } = await scene(({ path: asked }) =>
    asked.startsWith('/api/v1/') ? null : (response) => void response.writeHead(404).end('not here'),
  );
  const { origin } = new URL(service.url);
  const { code, found } = await examine({ DNS_SYNC_BASE_URL: origin });
  expect(code).toBe(1);
  expect(found.findings.slice(0, 2)).toEqual([
    saying('baseUrl', 'problem', `${origin} does not end with /api/v1: should it be ${origin}/api/v1?`),
    saying('service', 'problem', '404'),
  ]);
});

it('says that nothing answers', async () => {
  const { examine } = await scene();
  const { code, found } = await examine({ DNS_SYNC_BASE_URL: 'http://127.0.0.1:1/api/v1' });
  expect(code).toBe(1);
  expect(found.findings[0]).toEqual(saying('service', 'problem', 'connection refused'));
});

it('says what of two listings does not agree', async () => {
  let listings = 0;
  const { examine } = await scene(({ method, path: asked }) => {
    if (method !== 'GET' || !asked.endsWith('/dns_templates')) return null;
    listings += 1;
    const records = [{ id: 7, type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 300 }];
    const own = { publicly_available: false, subdomains: 0, dns_template_records: records };
    const all = [1, 2].map((id) => ({ id, name: `t${id}`, ...own })).slice(0, listings);
    return (response) => void response.setHeader('content-type', 'application/json').end(JSON.stringify(all));
  });
  const { code, found } = await examine();
  expect(code).toBe(1);
  expect(found.findings).toContainEqual(
    saying('two listings', 'problem', 'of all templates and records 0 gone, 1 new'),
  );
});

it.each<[what: string, change: object, finding: unknown]>([
  [
    'may be public',
    { publicly_available: undefined },
    saying('templates', 'problem', 'without publicly_available, such as web'),
  ],
  [
    'has no records',
    { dns_template_records: [] },
    saying('templates', 'note', '1 own template with 0 records'),
  ],
  [
    'has records that no file can describe',
    {
      dns_template_records: [
        { id: 9, type: 'CAA', name: null, content: '0 issue "ca"', priority: null, ttl: 60 },
      ],
    },
    saying('records', 'note', '1 of other types or unreadable, such as 9 (CAA @)'),
  ],
])('says that a template %s', async (_, change, finding) => {
  const web = {
    id: 1,
    name: 'web',
    publicly_available: false,
    subdomains: 0,
    dns_template_records: [],
    ...change,
  };
  const { examine } = await scene(
    () => (response) =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify([web])),
  );
  expect((await examine()).found.findings).toContainEqual(finding);
});

it('says by how much the clocks differ', async () => {
  const { examine } = await scene(({ query }) =>
    query === ''
      ? (response) => void response.setHeader('date', 'Fri, 20 Nov 2020 20:00:00 GMT').end()
      : null,
  );
  const { code, found } = await examine();
  expect(code).toBe(0);
  expect(found.findings).toContainEqual(saying('clock', 'note', 's from that of the service'));
});

it('looks into the state that is in use: that of the embedded service with --sandbox', async () => {
  const cwd = await workplace();
  const state = async (...args: string[]) => {
    const { stdout } = await run(['doctor', '--format', 'json', ...args], { cwd });
    return JSON.parse(stdout).findings.find(({ about }: { about: string }) => about === 'state');
  };
  const file = path.join(cwd, 'state', 'sandbox-memory.db');
  expect(await state('--sandbox')).toEqual(saying('state', 'note', `nothing saved yet in ${file}`));
  await run(['apply', '--sandbox', '--yes'], { cwd });
  await run(['suspend', 'voice', '--sandbox', '--reason', 'an audit'], { cwd });
  expect(await state('--sandbox')).toEqual(saying('state', 'ok', `${file}, 1 suspension`));
});
