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
  return change
    ? store.change((data) => change(data, Object(body)))
    : (await post(`${controlUrl}/${name}`, body)).json;
};

type Body = Readonly<Record<string, unknown>>;

const changes: Readonly<
  Record<string, (data: SandboxData, body: Body) => { data: SandboxData; answer: unknown }>
> = {
  'add-template': (data, { name, records = [], publicly_available = false }) => {
    const id = data.next_id;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the test gives
    const given = records as readonly Partial<TemplateRecord>[];
    const dns_template_records = given.map((record, index) => ({
      type: 'A',
      content: '',
      name: null,
      priority: null,
      ttl: 3600,
      ...record,
      id: id + 1 + index,
    }));
    const template: DnsTemplate = {
      id,
      name: String(name),
      publicly_available: publicly_available === true,
      dns_template_records,
    };
    const changed = {
      ...data,
      next_id: id + 1 + given.length,
      dns_templates: [...data.dns_templates, template],
    };
    return { data: changed, answer: shownTemplate(changed, template) };
  },
};
