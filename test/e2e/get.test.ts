import { describe, expect, it, vi } from 'vitest';
import { get } from '../sandbox/requests.ts';
import { run, workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

const reads = [
  ['accounts', ['accounts'], '/accounts', {}],
  ['account', ['account', '301'], '/accounts/301', {}],
  ['databases', ['databases', '--account', '301'], '/databases', { account_id: '301' }],
  ['dns-templates', ['dns-templates'], '/dns_templates', {}],
  ['dns-records', ['dns-records', 'bakery.example.net'], '/dns_records', { subdomain: 'bakery.example.net' }],
] as const;

describe('get', () => {
  it.each(reads)('%s shows the answer of the service, field by field', async (_, args, path, query) => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout, stderr } = await run(['get', ...args, '--format', 'json'], launch);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual((await get(service.url + path, query)).json);
  });

  it.each([
    ['accounts', /^ID +NAME +CREATED AT .*\n301 +bakery +2023-03-14 09:26:53 \+0100 /],
    ['account', /\n301 +bakery +.*bakery-shop, cafe/],
    ['databases', /\n511 +bakery_shop +localhost, office\.example\.net +bakery_app, /],
    ['dns-templates', /\n17 +standard-web +no +2 +11\n/],
    ['dns-records', /\n10010170 +@ +A +- +203\.0\.113\.10 +3600 +standard-web +170\n/],
  ])('%s as a table', async (name, row) => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const args = reads.find(([read]) => read === name)?.[1] ?? [];
    const { code, stdout } = await run(['get', ...args], launch);
    expect(code).toBe(0);
    expect(stdout).toMatch(row);
  });

  it('dns-records as a table distinguishes a record without a template from one whose template record is gone', async () => {
    const service = await startService();
    const left = { id: 9_001, type: 'TXT', name: 'left', content: 'gone', priority: null, ttl: 60 };
    service.drift((_, records) => [...records, { ...left, dns_template_record_id: 4711 }]);
    const launch = { cwd: await workplace(), env: service.env };
    const { stdout } = await run(['get', 'dns-records', 'bakery.example.net'], launch);
    expect(stdout).toMatch(/^ID +NAME +TYPE +PRIORITY +CONTENT +TTL +TEMPLATE +TEMPLATE RECORD\n/);
    expect(stdout).toMatch(/ NS +- .* - +-\n/);
    expect(stdout).toMatch(/ left +TXT +- +gone +60 +\(in none\) +4711\n/);
  });

  it.each([
    [['account', '999'], /^dns-template-sync: show account: the service answered 404: /],
    [['account', 'bakery'], /expected the id of an account/],
    [['databases', '--account', '../accounts'], /expected the id of an account/],
    [['databases'], /--account/],
    [['account'], /missing required argument 'id'/],
    [['dns-records', 'nowhere.example.net'], /the service answered 404/],
    [['everything'], /unknown command 'everything'/],
  ])('%j ends with 1 and says why', async (args, message) => {
    const service = await startService();
    const launch = { cwd: await workplace(), env: service.env };
    const { code, stdout, stderr } = await run(['get', ...args], launch);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('defect');
  });
});
