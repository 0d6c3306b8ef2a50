import { onTestFinished } from 'vitest';
import { startZoneServer, type ZoneLine } from '../answers/zone-server.ts';
import { writeBelow } from '../daemon/ways.ts';
import { run, workplace, type Ended } from './program.ts';
import { startService } from './service.ts';

export const shop = 'shop.example.net';

export const lines: readonly ZoneLine[] = [
  [shop, 'A', '192.0.2.1'],
  [`www.${shop}`, 'A', '192.0.2.2'],
];

/** A template with a subdomain that follows it, and a name server that may answer something else. */
export const prepared = async (
  served: readonly ZoneLine[] = lines,
  more = '',
  others: readonly Record<'type' | 'name' | 'content', string>[] = [],
) => {
  const service = await startService();
  const records = [
    { type: 'A', content: '192.0.2.1' },
    { type: 'A', name: 'www', content: '192.0.2.2' },
    ...others,
  ];
  const made = (await service.change('add-template', { name: 'site', records })) as { id: number };
  await service.change('set-subdomain', { name: shop, dns_template_id: made.id });
  service.drift((_, all) => all.filter(({ dns_template_record_id: from }) => from !== null));
  const cwd = await workplace({ withExamples: false });
  await writeBelow(
    cwd,
    'templates/site.yaml',
    `template: site
subdomains: [${shop}]
${more}
records:
  - {type: A, content: 192.0.2.1}
  - {type: A, name: www, content: 192.0.2.2}
${others.map((one) => `  - ${JSON.stringify(one)}\n`).join('')}`,
  );
  const server = await startZoneServer({ apex: shop, lines: served });
  onTestFinished(() => server.close());
  const launch = { cwd, env: { ...service.env, DNS_SYNC_NAMESERVERS: server.place } };
  const program = (args: readonly string[]): Promise<Ended> => run(args, launch);
  return { server, launch, program, cwd, service, template: made.id };
};

/** Of which one record is another one. */
export const stale: readonly ZoneLine[] = [
  [shop, 'A', '192.0.2.1'],
  [`www.${shop}`, 'A', '192.0.2.9'],
];
