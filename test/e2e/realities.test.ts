import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { DnsTemplate } from '../../src/sandbox/data.ts';
import { realities, type RealityName } from '../../src/sandbox/realities.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { post } from '../sandbox/requests.ts';
import { reportOf, run, workplace } from './program.ts';
import { environment } from './service.ts';

/** What a reality says instead of being served; null: it is served as it is. */
interface Played {
  readonly reality: RealityName;
  readonly says: RegExp | null;
}

const notAList = /the answer breaks the contract: answer is not an array: \{\\?"data/;
const noName = /answered 422: .*Parameter name is required/;

const played: readonly Played[] = [
  { reality: 'get-form', says: null },
  { reality: 'get-json', says: /the service answered 4\d\d/ },
  { reality: 'put-query', says: /answered 401: it rejects the tokens/ },
  { reality: 'put-json', says: /answered 415/ },
  // A listing settles what such an answer leaves unknown.
  { reality: 'put-empty', says: null },
  { reality: 'put-record', says: null },
  { reality: 'put-id', says: null },
  { reality: 'put-wrapped', says: null },
  { reality: 'put-partial', says: null },
  { reality: 'put-list', says: null },
  { reality: 'errors-200', says: null },
  { reality: 'errors-success', says: null },
  { reality: 'pages-link', says: /the listing is not whole \(link: / },
  { reality: 'pages-number', says: /the listing is not whole \(x-total-pages: / },
  { reality: 'list-wrapped', says: notAList },
  { reality: 'list-key', says: notAList },
  { reality: 'apex-empty', says: noName },
  { reality: 'apex-at', says: noName },
  { reality: 'null-content', says: null },
  { reality: 'null-known', says: null },
  { reality: 'no-owner', says: /does not say that it is yours/ },
  { reality: 'gzip', says: null },
];

const hosts = Array.from({ length: 6 }, (_, index) => `host${index}`);
const fields = { priority: null, ttl: 3600 };

/** Two records to change, and three to add, beside more than an answer may show. */
const before = [
  ...hosts.map((name) => ({ type: 'A', name, content: '192.0.2.1', ...fields })),
  { type: 'MX', name: null, content: 'mx1.example.com', priority: 10, ttl: 3600 },
];
const wanted = [
  ...hosts.map((name, at) => ({ type: 'A', name, content: at < 2 ? '203.0.113.1' : '192.0.2.1', ...fields })),
  { type: 'MX', name: null, content: 'mx1.example.com', priority: 10, ttl: 3600 },
  { type: 'TXT', name: null, content: 'v=spf1 mx -all', ...fields },
  { type: 'SRV', name: '_sip._tcp', content: '5 5060 sip.example.com', priority: 10, ttl: 3600 },
  ...hosts.slice(5).map((name) => ({ type: 'AAAA', name, content: '2001:db8::1', ...fields })),
];

type Row = Pick<DnsTemplate['dns_template_records'][number], 'type' | 'name' | 'content' | 'priority'>;

/** As the sandbox holds it, whatever it answers. */
const rowOf = ({ type, name, content, priority }: Row): string =>
  [type, name === '@' ? '' : (name ?? ''), content, priority].join(' ');

const scene = async (names: readonly RealityName[]) => {
  const cwd = await workplace({ withExamples: false });
  const dataFile = path.join(cwd, 'service.json');
  const sandbox = await startSandbox({ dataFile, realities: names });
  onTestFinished(() => sandbox.close());
  await post(`${sandbox.controlUrl}/add-template`, { name: 'web', records: before });
  await mkdir(path.join(cwd, 'templates'));
  const file = {
    template: 'web',
    limits: { maxChangePercent: 100 },
    records: wanted.map(({ name, priority, ...record }) => ({
      ...record,
      ...(name === null ? {} : { name }),
      ...(priority === null ? {} : { priority }),
    })),
  };
  // JSON is YAML.
  await writeFile(path.join(cwd, 'templates/web.yaml'), JSON.stringify(file));
  const stored = async (): Promise<string[]> => {
    const plain = await startSandbox({ dataFile });
    const answer = await fetch(`${plain.url}/dns_templates?user_token=a&client_token=b`);
    const templates: DnsTemplate[] = JSON.parse(await answer.text());
    await plain.close();
    return templates.find(({ name }) => name === 'web')!.dns_template_records.map(rowOf);
  };
  const at = (args: string[]) => run(args, { cwd, env: environment(sandbox.url) });
  return { stored, at };
};

const known = new Set([...before, ...wanted].map(rowOf));

/** Each record once, and none that nobody wanted. */
const expectNoWrongWrite = (rows: readonly string[]): void => {
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows.filter((row) => !known.has(row))).toEqual([]);
};

it.each(played.filter(({ says }) => says !== null))(
  'a service that $reality is not written wrongly, and says why',
  async ({ reality, says }) => {
    const { stored, at } = await scene([reality]);
    const { code, stdout, stderr } = await at(['apply', '--yes']);
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ') + stderr).toMatch(says!);
    expectNoWrongWrite(await stored());
  },
);

it.each(played.filter(({ says }) => says === null))(
  'a service that $reality reaches the file in one pass',
  async ({ reality }) => {
    const { stored, at } = await scene([reality]);
    const { code, stdout } = await at(['apply', '--yes', '--format', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'in-sync', summary: { applied: 5 } });
    expect(code).toBe(0);
    expect((await stored()).toSorted()).toEqual(wanted.map(rowOf).toSorted());
  },
);

it.each<RealityName>(['errors-200', 'errors-success'])(
  'a refusal of a service that %s is one, with its words, and keeps no other record from being written',
  async (reality) => {
    const { stored, at } = await scene([reality, 'apex-at']);
    const { code, stdout } = await at(['apply', '--yes', '--format', 'json']);
    const [template] = reportOf(stdout).templates;
    expect(template?.differences.filter(({ outcome }) => outcome !== 'applied')).toMatchObject([
      {
        action: 'add',
        desired: { type: 'TXT' },
        outcome: 'failed',
        error: expect.stringMatching(/answered 200 with an error: \{.*Parameter name is required\./),
      },
    ]);
    expect(code).toBe(1);
    expect((await stored()).toSorted()).toEqual(
      wanted
        .filter(({ type }) => type !== 'TXT')
        .map(rowOf)
        .toSorted(),
    );
  },
);

it.each<RealityName>(['cut-listing', 'empty-listing'])(
  'a service that is %s gets no copy of what a subdomain of the file shows',
  async (reality) => {
    const cwd = await workplace();
    const dataFile = path.join(cwd, 'service.json');
    const sandbox = await startSandbox({ dataFile, realities: [reality] });
    onTestFinished(() => sandbox.close());
    const ids = async (): Promise<number[]> => {
      const data: { dns_templates: DnsTemplate[] } = JSON.parse(await readFile(dataFile, 'utf8'));
      const web = data.dns_templates.find(({ name }) => name === 'standard-web')!;
      return web.dns_template_records.map(({ id }) => id);
    };
    const atFirst = await ids();
    for (let pass = 1; pass <= 2; pass += 1) {
      const { stdout } = await run(['apply', '--yes', 'standard-web'], {
        cwd,
        env: environment(sandbox.url),
      });
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('the listing does not show what its answers show');
    }
    expect(await ids()).toEqual(atFirst);
  },
);

it('every reality is played', () => {
  const own = new Set<string>(played.map(({ reality }) => reality));
  const elsewhere = ['cut-listing', 'empty-listing', 'placeholders'];
  expect(Object.keys(realities).filter((name) => !own.has(name))).toEqual(elsewhere);
});
