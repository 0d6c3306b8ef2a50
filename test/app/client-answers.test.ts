import { describe, it, type TestContext } from 'vitest';
import { askNameServers, type AnswersRequest } from '../../src/app/client-answers.ts';
import type { DesiredTemplate } from '../../src/model/template.ts';
import { answersIn, answersKey, withAnswers } from '../../src/report/answers.ts';
import type { SubdomainAnswers } from '../../src/result.ts';
import type { ClientSettings } from '../../src/settings/client.ts';
import { shown } from '../answers/checked.ts';
import { startZoneServer, type ZoneServer } from '../answers/zone-server.ts';
import { pass, template } from '../report/every-kind.ts';

const names = ['a.example.net', 'b.example.net'] as const;

const serve = async ({ onTestFinished }: TestContext, apex: string): Promise<ZoneServer> => {
  const server = await startZoneServer({ apex, lines: [[apex, 'A', '192.0.2.1']] });
  onTestFinished(() => server.close());
  return server;
};

const templateOf = (server: ZoneServer, subdomain: string): DesiredTemplate =>
  ({ template: subdomain, id: null, subdomains: [subdomain], nameservers: [server.place] }) as never;

const ask = (
  servers: readonly ZoneServer[],
  request: Partial<AnswersRequest> = {},
): ReturnType<typeof askNameServers> =>
  askNameServers(
    { templates: [], isCommand: true, signal: new AbortController().signal, previous: new Map(), ...request },
    {
      settings: { resolver: null, answersGrace: 0, nameservers: [] as readonly string[] } as ClientSettings,
      now: Date.now,
      isSandbox: false,
      load: () =>
        Promise.resolve({
          templates: servers.map((server, at) => templateOf(server, names[at]!)),
          unusable: [],
          problems: [],
          files: 1,
        }),
      listDnsRecords: () => Promise.resolve(shown('@ A 192.0.2.1')),
      readRows: () => Promise.resolve([]),
      timeout: 100,
    },
  );

const [first, second] = names.map((name) => answersKey(name, name)) as [string, string];

const statusWith = (answers: SubdomainAnswers | undefined) => {
  const subdomain = { subdomain: names[0], status: 'in-sync', message: null, differences: [] } as const;
  const one = template({
    template: names[0],
    status: 'in-sync',
    subdomains: [{ ...subdomain, answers: answers! }],
  });
  const before = pass({ templates: [one] });
  return withAnswers(before, answersIn(before)).templates[0]?.status;
};

// Three of them wait for a server that is silent.
describe.concurrent('a round in which nobody can be asked', { timeout: 60_000 }, () => {
  it('does not make the template fail', async (context) => {
    const { expect } = context;
    const silent = await serve(context, names[0]);
    silent.hush();
    const found = (await ask([silent])).get(first);
    expect(found).toMatchObject({ status: 'failed', servers: [{ status: 'silent' }] });
    expect(found).not.toHaveProperty('askedAt');
    expect(statusWith(found)).toBe('in-sync');
  });

  it('keeps the answers of the round before, and says their age and the reason', async (context) => {
    const { expect } = context;
    const server = await serve(context, names[0]);
    const previous = await ask([server]);
    const before = previous.get(first);
    expect(before).toMatchObject({ status: 'in-sync', askedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
    server.hush();
    expect((await ask([server], { previous })).get(first)).toEqual({
      ...before,
      message: `${server.place}: no answer`,
    });
  });

  it('is told from one server that is silent while others answer: that is drift', async (context) => {
    const { expect } = context;
    const [one, silent] = [await serve(context, names[0]), await serve(context, names[1])];
    silent.hush();
    const found = await ask([one, silent]);
    expect(found.get(first)).toMatchObject({ status: 'in-sync' });
    expect(found.get(second)).toMatchObject({ status: 'drifted', servers: [{ status: 'silent' }] });
  });

  it('is one that was ended before its time', async (context) => {
    const { expect } = context;
    const server = await serve(context, names[0]);
    const previous = await ask([server]);
    const asked = server.questions.length;
    const found = await ask([server], { previous, signal: AbortSignal.abort() });
    expect(found.get(first)).toEqual({
      ...previous.get(first),
      message: 'the round of questions took too long',
    });
    expect(server.questions).toHaveLength(asked);
  });
});
