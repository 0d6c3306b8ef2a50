import type { DnsTemplate, SandboxData, TemplateRecord } from '../../src/sandbox/data.ts';
import { shownTemplate } from '../../src/sandbox/data.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { post } from './requests.ts';

export type ShownTemplate = ReturnType<typeof shownTemplate>;

/** A change of the embedded service that none of its operations makes: by hand, or one that only a test can make. */
export const changeOf = async (
  { store, controlUrl }: Pick<Sandbox, 'store' | 'controlUrl'>,
  name: string,
  body: unknown,
): Promise<unknown> => {
  const change = changes[name];
  if (!change) return (await post(`${controlUrl}/${name}`, body)).json;
  const data = store.read();
  const template = change(data, Object(body));
  store.write(data);
  return shownTemplate(data, template);
};

type Body = Readonly<Record<string, unknown>>;

const changes: Readonly<Record<string, (data: SandboxData, body: Body) => DnsTemplate>> = {
  'add-template': (data, { name, records = [], publicly_available = false }) => {
    const id = data.next_id;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the test gives
    const given = records as readonly Partial<TemplateRecord>[];
    const unset = { type: 'A', content: '', name: null, priority: null, ttl: 3600 };
    const template: DnsTemplate = {
      id,
      name: String(name),
      publicly_available: publicly_available === true,
      dns_template_records: given.map((record, index) => ({ ...unset, ...record, id: id + 1 + index })),
    };
    data.next_id = id + 1 + given.length;
    data.dns_templates.push(template);
    return template;
  },
};
