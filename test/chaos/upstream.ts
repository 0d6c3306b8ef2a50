import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { changeOf } from '../sandbox/changes.ts';
import type { WireTemplate } from './wire.ts';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The embedded service, asked directly. */
export interface Upstream {
  templates(): Promise<WireTemplate[]>;
  write(templateId: number, action: 'add' | 'update', form: URLSearchParams): Promise<Answer>;
  /** Any other request. */
  get(path: string): Promise<Answer>;
  /** A change that no operation can make. */
  change(name: string, body: unknown): Promise<WireTemplate>;
  close(): Promise<void>;
}

export const startUpstream = async (): Promise<Upstream> => {
  const sandbox = await startSandbox({});
  const { url } = sandbox;
  const ask = async (address: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(address, init);
    return { status: response.status, body: await response.text() };
  };
  return {
    templates: async () => parsed(await ask(`${url}/dns_templates?user_token=u&client_token=c`)),
    write: (templateId, action, form) =>
      ask(`${url}/dns_templates/${templateId}/${action}_record`, { method: 'PUT', body: form }),
    get: (path) => ask(url + path),
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every change gives the template
    change: async (name, body) => (await changeOf(sandbox, name, body)) as WireTemplate,
    close: () => sandbox.close(),
  };
};

/** The embedded service's own answers are right. */
export const parsed = <T>({ status, body }: Answer): T => {
  if (status !== 200) throw new Error(`the embedded service answered ${status}: ${body}`);
  const value: T = JSON.parse(body);
  return value;
};
