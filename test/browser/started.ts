import { expect } from 'vitest';
import { z } from 'zod';
import { startDaemon, type Daemon } from '../daemon/daemon.ts';
import type { startProcess } from '../process.ts';
import { workplace } from '../program.ts';
import { get, post } from '../sandbox/requests.ts';

export interface Place {
  readonly cwd: string;
  readonly daemon: Daemon;
  readonly url: string;
  /** A change at the service, behind the program's back. */
  readonly change: (name: string, body: unknown) => Promise<unknown>;
  /** Of the record of `standard-web` with this name and type. */
  readonly idOf: (type: string, name: string | null) => Promise<number>;
}

const Started = z.object({
  listen: z.string(),
  clients: z.tuple([z.object({ baseUrl: z.string() })]),
});
const Templates = z.array(
  z.object({
    name: z.string(),
    dns_template_records: z.array(z.object({ id: z.int(), type: z.string(), name: z.string().nullable() })),
  }),
);

/** The daemon on the embedded service, after its first pass. */
export const started = async (
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
  prepare: (cwd: string) => void = () => undefined,
  begin?: typeof startProcess,
): Promise<Place> => {
  const cwd = await workplace();
  prepare(cwd);
  const daemon = await startDaemon(['--sandbox', '--reset', ...args], { cwd, env }, begin);
  await daemon.event('pass.finished');
  const line = daemon.lines().find(({ event }) => event === 'daemon.started');
  const { listen, clients } = Started.parse(line);
  const [{ baseUrl }] = clients;
  return {
    cwd,
    daemon,
    url: `${listen}/`,
    change: async (name, body) => (await post(`${new URL(baseUrl).origin}/sandbox/${name}`, body)).json,
    idOf: async (type, name) => {
      const templates = Templates.parse((await get(`${baseUrl}/dns_templates`)).json);
      const records = templates.find((template) => template.name === 'standard-web')?.dns_template_records;
      return (
        records?.find((record) => record.type === type && record.name === name)?.id ??
        expect.fail(`no ${type}`)
      );
    },
  };
};
