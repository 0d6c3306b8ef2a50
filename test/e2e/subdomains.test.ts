import { describe, expect, it, vi } from 'vitest';
import { get } from '../sandbox/requests.ts';
import { writeBelow } from '../daemon/ways.ts';
import { reportOf, run, workplace } from './program.ts';
import { startService, type Service } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

interface Derived {
  readonly id: number;
  readonly name: string | null;
  readonly dns_template_record_id: number | null;
}

/** Three records and two subdomains that follow them, as the file says. */
const prepared = async () => {
  const service = await startService();
  const records = [
    { type: 'A', content: '192.0.2.1' },
    { type: 'A', name: 'www', content: '192.0.2.2' },
    { type: 'A', name: 'api', content: '192.0.2.3' },
  ];
  const made = (await service.change('add-template', { name: 'site', records })) as { id: number };
  for (const name of ['shop.example.net', 'late.example.net'])
    await service.change('set-subdomain', { name, dns_template_id: made.id });
  const cwd = await workplace({ withExamples: false });
  await writeBelow(
    cwd,
    'templates/site.yaml',
    `template: site
subdomains: [shop.example.net, late.example.net]
records:
  - {type: A, content: 192.0.2.1}
  - {type: A, name: www, content: 192.0.2.2}
  - {type: A, name: api, content: 192.0.2.3}
`,
  );
  const template = await service.records(made.id);
  const idOf = (name: string | null): number => template.find((record) => record.name === name)?.id ?? 0;
  const plan = (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    run(['plan', ...args], { cwd, env: { ...service.env, ...env } });
  const report = async (args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) =>
    reportOf((await plan([...args, '--format', 'json'], env)).stdout);
  return { service, idOf, plan, report };
};

const derivedAt = async ({ url }: Service, subdomain: string, name: string | null): Promise<Derived> => {
  const { json } = await get(`${url}/dns_records`, { subdomain });
  return json.find((one: Derived) => one.name === name && one.dns_template_record_id !== null);
};

describe('subdomains', () => {
  it('that do not are shown with missing, stale and foreign records, in every format', async () => {
    const { service, idOf, plan, report } = await prepared();
    const www = await derivedAt(service, 'shop.example.net', 'www');
    const stranger = {
      id: 9_001,
      type: 'TXT',
      name: null,
      content: 'not from here',
      priority: null,
      ttl: 3600,
    };
    service.drift((subdomain, records) =>
      subdomain !== 'shop.example.net'
        ? records
        : [
            ...records
              .filter(({ name, dns_template_record_id: from }) => name !== null || from === null)
              .map((one) => (one.id === www.id ? { ...one, content: '192.0.2.9', ttl: 60 } : one)),
            { ...stranger, dns_template_record_id: 4711 },
            { ...stranger, id: 9_002, dns_template_record_id: null },
          ],
    );

    const { status, summary, templates } = await report();
    expect({ status, summary }).toMatchObject({
      status: 'drifted',
      summary: { add: 0, update: 0, surplus: 0, subdomains: 2, subdomainDifferences: 3 },
    });
    const apexData = { type: 'A', name: null, content: '192.0.2.1', priority: null, ttl: 3600 };
    const wwwData = { ...apexData, name: 'www', content: '192.0.2.2' };
    expect(templates[0]?.subdomains).toEqual([
      {
        subdomain: 'shop.example.net',
        status: 'drifted',
        message: null,
        differences: [
          { kind: 'missing', templateRecord: { id: idOf(null), ...apexData }, record: null, fields: [] },
          {
            kind: 'stale',
            templateRecord: { id: idOf('www'), ...wwwData },
            record: { id: www.id, templateRecordId: idOf('www'), ...wwwData, content: '192.0.2.9', ttl: 60 },
            fields: ['content', 'ttl'],
          },
          {
            kind: 'foreign',
            templateRecord: null,
            record: expect.objectContaining({
              type: 'TXT',
              content: 'not from here',
              templateRecordId: 4711,
            }),
            fields: [],
          },
        ],
        answers: { status: 'off', servers: [], differences: [] },
      },
      {
        subdomain: 'late.example.net',
        status: 'in-sync',
        message: null,
        differences: [],
        answers: { status: 'off', servers: [], differences: [] },
      },
    ]);

    const text = (await plan()).stdout;
    expect(text).toContain('3 in sync, 1 subdomain in sync');
    expect(text).toContain('subdomain shop.example.net: differs');
    expect(text).toMatch(/- A {3}@ +192\.0\.2\.1 +ttl 3600 +missing · template record \d+\n/);
    expect(text).toMatch(
      /~ A {3}www +192\.0\.2\.9 → 192\.0\.2\.2 +ttl 60 → 3600 +stale · record \d+ · template/,
    );
    expect(text).toMatch(/\? TXT @ +not from here +ttl 3600 +foreign · record \d+ · template record 4711\n/);
    expect(text).toMatch(/^3 differences in subdomains/m);

    const markdown = (await plan(['--format', 'markdown'])).stdout;
    expect(markdown).toContain('### dns-template-sync: 3 differences in subdomains');
    expect(markdown).toMatch(
      /\nsubdomain shop\.example\.net: differs\n {2}- .* missing .*\n {2}~ .* stale .*\n {2}\? .* foreign /,
    );
    const page = (await plan(['--format', 'html'])).stdout;
    for (const word of ['missing', 'stale', 'foreign', 'shop.example.net', 'not from here'])
      expect(page).toContain(word);

    expect((await plan(['--detailed-exitcode'])).code).toBe(2);
    const ignoring = ['--ignore-subdomains', '--detailed-exitcode'];
    const { code, stdout } = await plan(ignoring);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.not.stringContaining('example.net') });
    expect((await report(ignoring)).summary).toMatchObject({ subdomains: 0, subdomainDifferences: 0 });
    for (const format of ['markdown', 'html'])
      expect((await plan([...ignoring, '--format', format])).stdout).not.toContain('shop.example.net');
  });
});
