import {
  shownTemplate,
  type DnsTemplate,
  type SandboxData,
  type TemplateRecord,
} from '../../src/sandbox/data.ts';
import { changeByHand } from '../../src/sandbox/operations.ts';
import type { SandboxStore } from '../../src/sandbox/sandbox.ts';

export type ShownTemplate = ReturnType<typeof shownTemplate>;

/** A change of the embedded service that none of its operations makes: by hand, or one that only a test can make. */
export const changeOf = (store: SandboxStore, name: string, body: object): ShownTemplate => {
  const data = store.read();
  const own = ownChanges[name];
  const shown = own ? shownTemplate(data, own(data, body)) : changeByHand(data, name, JSON.stringify(body));
  store.write(data);
  return shown;
};

interface Addition {
  readonly name?: unknown;
  readonly records?: readonly Partial<TemplateRecord>[];
  readonly publicly_available?: boolean;
}

const addTemplate = (
  data: SandboxData,
  { name, records = [], publicly_available = false }: Addition,
): DnsTemplate => {
  const id = data.next_id;
  const unset = { type: 'A', content: '', name: null, priority: null, ttl: 3600 };
  const template = {
    id,
    name: String(name),
    publicly_available,
    dns_template_records: records.map((record, index) => ({ ...unset, ...record, id: id + 1 + index })),
  };
  data.next_id = id + 1 + records.length;
  data.dns_templates.push(template);
  return template;
};

const ownChanges: Partial<Record<string, (data: SandboxData, body: object) => DnsTemplate>> = {
  'add-template': addTemplate,
};
