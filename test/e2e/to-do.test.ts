import { execFileSync } from 'node:child_process';
import { expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace, type Launch } from './program.ts';
import { startService, type Service } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const fileWith = (records: readonly string[], settings = ''): string =>
  `template: web\n${settings}records:\n${records.map((record) => `  - { ${record} }\n`).join('')}`;

const api = 'type: A, name: api, content: 192.0.2.1';
const star = 'type: A, name: "*.api", content: 192.0.2.2';
const old = 'type: CNAME, name: old, content: www.example.net';

interface Place {
  readonly service: Service;
  readonly launch: Launch;
  readonly write: (records: readonly string[], settings?: string) => Promise<void>;
  readonly idOf: (name: string) => Promise<number>;
  readonly plan: () => Promise<string>;
}

/** A template that has been in sync with its file. */
const place = async (): Promise<Place> => {
  const service = await startService();
  const cwd = await workplace({ withExamples: false });
  const launch = { cwd, env: service.env };
  const write: Place['write'] = (records, settings) =>
    writeBelow(cwd, 'templates/web.yaml', fileWith(records, settings));
  const { id } = (await service.change('add-template', {
    name: 'web',
    records: [
      { type: 'A', name: 'api', content: '192.0.2.1' },
      { type: 'A', name: '*.api', content: '192.0.2.2' },
      { type: 'CNAME', name: 'old', content: 'www.example.net' },
    ],
  })) as { id: number };
  await write([api, star, old]);
  expect(await run(['apply', '--yes'], launch)).toMatchObject({ code: 0 });
  return {
    service,
    launch,
    write,
    idOf: async (name) => (await service.records(id)).find((one) => one.name === name)!.id,
    plan: async () => (await run(['plan', 'web'], launch)).stdout.replaceAll(/\n {6}(?=\S)/g, ' '),
  };
};

/** The first command of a plan with this word in it, as a shell splits it. */
const commandIn = (plan: string, word: string): string[] => {
  const command = /`dns-template-sync ([^`]+)`/g;
  const [, text = ''] = [...plan.matchAll(command)].find(([, one = '']) => one.startsWith(word)) ?? [];
  return execFileSync('sh', ['-c', `printf '%s\\n' ${text}`], { encoding: 'utf8' })
    .trim()
    .split('\n');
};

it('a record that was changed at the service: the command of the plan takes it into the file', async () => {
  const { service, launch, idOf, plan } = await place();
  await service.change('edit-record', { record_id: await idOf('*.api'), content: '192.0.2.99' });
  const found = await plan();
  expect(found).toContain('≠ web (2001): 1 to change, 2 in sync · templates/web.yaml');
  expect(found).toContain('makes the file say what the service has; a pass writes what the file says.');
  const command = commandIn(found, 'accept');
  expect(command).toEqual(['accept', 'web', String.raw`\*.api A`]);
  expect(await run([...command, '--yes'], launch)).toMatchObject({ code: 0 });
  expect(await plan()).toContain('everything in sync');
});

it('the same under mode: edits: the other command writes what the file says', async () => {
  const { service, launch, write, idOf, plan } = await place();
  await write([api, star, old], 'mode: edits\n');
  await service.change('edit-record', { record_id: await idOf('api'), content: '192.0.2.99' });
  const command = commandIn(await plan(), 'apply');
  expect(command).toEqual(['apply', '--force', 'web']);
  expect(await run([...command, '--yes'], launch)).toMatchObject({ code: 0 });
  expect(await plan()).toContain('everything in sync');
});

it('a renamed record and a removed one: what the plan says of `surplus: park` is what it plans then', async () => {
  const { write, idOf, plan } = await place();
  const [renamed, removed] = [await idOf('api'), await idOf('old')];
  const balancer = api.replace('api', 'balancer');
  await write([balancer, star]);
  const found = await plan();
  expect(found).toContain(`with \`surplus: park\`, a pass can rename record ${renamed} to \`balancer\``);
  expect(found).toContain(
    `you took it out of the file, and the service cannot delete: remove record ${removed} in the panel, or let \`surplus: park\` move it aside.`,
  );
  await write([balancer, star], 'surplus: park\n');
  const parking = await plan();
  expect(parking).toMatch(new RegExp(`~ A +api +name api → balancer .* record ${renamed}\n`));
  expect(parking).toMatch(new RegExp(`» CNAME old +name old → _parked-${removed} `));
});

it('a record that was added at the service: the command of the plan takes it into the file', async () => {
  const { service, launch, plan } = await place();
  await service.change('add-record', { dns_template_id: 2001, type: 'TXT', name: 'its', content: 'hello' });
  const command = commandIn(await plan(), 'accept');
  expect(command).toEqual(['accept', 'web', 'its TXT']);
  expect(await run([...command, '--yes'], launch)).toMatchObject({ code: 0 });
  expect(await plan()).toContain('everything in sync');
});
