import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import type { DesiredTemplate, ActualTemplate } from '../../src/model/template.ts';
import type { Difference } from '../../src/plan/difference.ts';
import { noMemory } from '../../src/plan/memory.ts';
import { planTemplate } from '../../src/plan/plan.ts';
import { differencesOf } from '../plan/records.ts';
import { additionOf, changeOf } from '../../src/plan/step.ts';
import type { Step } from '../../src/plan/step.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { get, put } from './requests.ts';

const templates = fileURLToPath(new URL('../../templates', import.meta.url));
const maxChangePercent = 30;

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox({});
});
afterEach(async () => {
  await sandbox.close();
});

const load = async (surplus: 'report' | 'park') =>
  createTemplateLoader().load({
    paths: [templates],
    defaults: {
      mode: 'enforce',
      surplus,
      adopt: surplus === 'park',
      limits: { maxAdds: 100, maxChangePercent, minRecords: 10 },
    },
    variables: { override: {}, defaults: {} },
    strict: true,
  });

const actualTemplate = async (name: string): Promise<ActualTemplate> => {
  const { json } = await get(`${sandbox.url}/dns_templates`);
  const found = json.filter((template: { name: string }) => template.name === name);
  expect(found).toHaveLength(1);
  const [{ id, publicly_available: publiclyAvailable, subdomains, dns_template_records: records }] = found;
  return { id, name, publiclyAvailable, subdomains, records };
};

const planOf = async (desired: DesiredTemplate) =>
  planTemplate({ desired, actual: await actualTemplate(desired.template), memory: noMemory });

const inShort = (difference: Difference): string => {
  const { type, name } = difference.action === 'surplus' ? difference.current : difference.desired;
  const record = `${difference.action} ${type} ${name ?? '@'}`;
  if (difference.action === 'update') {
    return `${record} ${difference.fields.join()}`;
  }
  return 'reason' in difference ? `${record} ${difference.reason}` : record;
};

describe('the example templates', () => {
  it('have no errors and no warnings', async () => {
    const { problems, unusable, files } = await load('report');
    expect({ problems, unusable, files }).toEqual({ problems: [], unusable: [], files: 5 });
  });

  it('show every kind of difference against the fresh example data, and one template without any', async () => {
    const shown: Record<string, string[]> = {};
    for (const desired of (await load('report')).templates) {
      shown[desired.template] = differencesOf(await planOf(desired))
        .map(inShort)
        .sort();
    }
    expect(shown).toEqual({
      'mail-only': ['surplus TXT @ duplicate', 'update MX @ priority'],
      'office-reverse': ['add PTR 13', 'surplus PTR 12 unlisted'],
      redirects: [],
      'standard-web': [
        'add AAAA www',
        'blocked CNAME shop cname-conflict',
        'surplus A shop unlisted',
        'update A www content',
        'update AAAA @ ttl',
      ],
      voice: ['update SRV _sips._tcp content'],
    });
  });

  it('are in sync once surplus is parked, without exceeding a guard', async () => {
    for (const desired of (await load('park')).templates) {
      const { steps } = await planOf(desired);
      const { id, records } = await actualTemplate(desired.template);
      const changes = steps.filter(({ difference }) => difference.action !== 'add');
      expect((100 * changes.length) / records.length).toBeLessThanOrEqual(maxChangePercent);
      for (const step of steps) {
        await write(id, step);
      }
      expect(differencesOf(await planOf(desired))).toEqual([]);
    }
  });

  const write = async (templateId: number, step: Step) => {
    const isAdd = !('actual' in step);
    const { recordId, ...fields } = isAdd ? { recordId: null, ...additionOf(step) } : changeOf(step);
    const stated = Object.entries({ ...fields, record_id: recordId }).filter(([, value]) => value !== null);
    const form = Object.fromEntries(stated.map(([key, value]) => [key, String(value)]));
    const operation = isAdd ? 'add_record' : 'update_record';
    const { status } = await put(`${sandbox.url}/dns_templates/${templateId}/${operation}`, form);
    expect(status).toBe(200);
  };

  it('name subdomains whose records follow the template', async () => {
    for (const { template, subdomains } of (await load('report')).templates) {
      const { records } = await actualTemplate(template);
      for (const subdomain of subdomains) {
        const { json } = await get(`${sandbox.url}/dns_records`, { subdomain });
        const sources = json.map(
          (record: { dns_template_record_id: unknown }) => record.dns_template_record_id,
        );
        expect(sources).toEqual([null, null, null, ...records.map(({ id }) => id)]);
      }
    }
  });
});
