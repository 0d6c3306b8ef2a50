import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { DnsTemplate } from '../../src/sandbox/data.ts';
import { realities, type RealityName } from '../../src/sandbox/realities.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { post } from '../sandbox/requests.ts';
import { reportOf, run, workplace } from './program.ts';
import { environment } from './service.ts';

/** What a reality shows without a setting, and the settings with which it is served. */
interface Played {
  readonly reality: RealityName;
  /** What is said without a setting; null: it is served as it is. */
  readonly says: RegExp | null;
  /** Null: no setting serves it. */
  readonly settings: Readonly<Record<string, string>> | null;
}

const listing = { DNS_SYNC_WRITE_ANSWERS: 'listing' };
const setWriteAnswers = /set writeAnswers: listing/;

const played: readonly Played[] = [
  {
    reality: 'get-form',
    says: /it rejects the tokens.*see getParameters/,
    settings: { DNS_SYNC_GET_PARAMETERS: 'body' },
  },
  { reality: 'get-json', says: /see getParameters/, settings: { DNS_SYNC_GET_PARAMETERS: 'json' } },
  {
    reality: 'put-query',
    says: /these tokens just worked for reading: see putParameters/,
    settings: { DNS_SYNC_PUT_PARAMETERS: 'query' },
  },
  {
    reality: 'put-json',
    says: /answered 415, and these tokens just worked for reading: see putParameters/,
    settings: { DNS_SYNC_PUT_PARAMETERS: 'json' },
  },
  { reality: 'put-empty', says: setWriteAnswers, settings: listing },
  { reality: 'put-record', says: setWriteAnswers, settings: listing },
  { reality: 'put-id', says: setWriteAnswers, settings: listing },
  { reality: 'put-wrapped', says: setWriteAnswers, settings: listing },
  { reality: 'put-partial', says: null, settings: {} },
  { reality: 'put-list', says: setWriteAnswers, settings: listing },
  { reality: 'errors-200', says: null, settings: {} },
  { reality: 'errors-success', says: null, settings: {} },
  { reality: 'pages-link', says: /more pages.*set pages: link/, settings: { DNS_SYNC_PAGES: 'link' } },
  { reality: 'pages-number', says: /more pages.*set pages: page/, settings: { DNS_SYNC_PAGES: 'page' } },
  { reality: 'list-wrapped', says: null, settings: {} },
  {
    reality: 'list-key',
    says: /name it with listKey \(it has data, included\)/,
    settings: { DNS_SYNC_LIST_KEY: 'data' },
  },
  {
    reality: 'apex-empty',
    says: /see apexName\): .*Parameter name is required/,
    settings: { apexName: '""' },
  },
  {
    reality: 'apex-at',
    says: /see apexName\): .*Parameter name is required/,
    settings: { DNS_SYNC_APEX_NAME: '@' },
  },
  { reality: 'null-content', says: null, settings: {} },
  { reality: 'null-known', says: null, settings: {} },
  { reality: 'no-owner', says: /does not say that it is yours/, settings: null },
  { reality: 'gzip', says: null, settings: {} },
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
  const at = async (args: string[], settings: Readonly<Record<string, string>>) => {
    const inFile = Object.entries(settings).filter(([key]) => !key.startsWith('DNS_SYNC_'));
    await writeFile(
      path.join(cwd, 'dns-template-sync.yaml'),
      inFile.map(([key, value]) => `${key}: ${value}\n`).join(''),
    );
    const env = Object.fromEntries(Object.entries(settings).filter(([key]) => key.startsWith('DNS_SYNC_')));
    return run(args, { cwd, env: { ...environment(sandbox.url), ...env } });
  };
  return { stored, at };
};

const known = new Set([...before, ...wanted].map(rowOf));

/** Each record once, and none that nobody wanted. */
const expectNoWrongWrite = (rows: readonly string[]): void => {
  expect(new Set(rows).size).toBe(rows.length);
  expect(rows.filter((row) => !known.has(row))).toEqual([]);
};

it.each(played.filter(({ says }) => says !== null))(
  'a service that $reality is not written wrongly without a setting, and what is to set is said',
  async ({ reality, says }) => {
    const { stored, at } = await scene([reality]);
    const { code, stdout, stderr } = await at(['apply', '--yes'], {});
    expect(code).toBe(1);
    expect(stdout.replaceAll(/\s+/g, ' ') + stderr).toMatch(says!);
    expectNoWrongWrite(await stored());
  },
);

it.each(played.filter(({ settings }) => settings !== null))(
  'a service that $reality reaches the file in one pass with what is to set',
  async ({ reality, settings }) => {
    const { stored, at } = await scene([reality]);
    const { code, stdout } = await at(['apply', '--yes', '--format', 'json'], settings!);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'in-sync', summary: { applied: 5 } });
    expect(code).toBe(0);
    expect((await stored()).toSorted()).toEqual(wanted.map(rowOf).toSorted());
  },
);

it.each<RealityName>(['errors-200', 'errors-success'])(
  'a refusal of a service that %s is one, with its words, and keeps no other record from being written',
  async (reality) => {
    const { stored, at } = await scene([reality, 'apex-at']);
    const { code, stdout } = await at(['apply', '--yes', '--format', 'json'], {});
    const [template] = reportOf(stdout).templates;
    expect(template?.differences.filter(({ outcome }) => outcome !== 'applied')).toMatchObject([
      {
        action: 'add',
        desired: { type: 'TXT' },
        outcome: 'failed',
        error: expect.stringMatching(
          /answered 200 with an error \(if the subdomain itself needs a name, see apexName\): Parameter name is required\.$/,
        ),
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
