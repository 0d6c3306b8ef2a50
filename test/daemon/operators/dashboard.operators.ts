import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { blocksOf } from '../../documents/documents.ts';
import { addTemplate, describing, startDaemon } from '../daemon.ts';
import { workplace } from '../../program.ts';
import { startService } from '../../service.ts';
import { freePort } from '../../free-port.ts';
import { scriptedServer, status } from '../../wire/scripted-server.ts';
import { writeBelow } from '../ways.ts';
import { rulesFile } from './promtool.ts';
import { withTools } from './tools.ts';

const target = z.object({ expr: z.string() });
const dashboard = z
  .object({
    templating: z.object({ list: z.array(z.object({ name: z.string(), query: z.string() })) }),
    panels: z.array(z.object({ title: z.string(), targets: z.array(target) })),
  })
  .parse(JSON.parse(await readFile('.github/deploy/dashboard.json', 'utf8')));

/** A daemon that has written, has failed to, and has told a receiver of it. */
const busyDaemon = async () => {
  const receiver = await scriptedServer(status(204));
  let isRefusing = false;
  const service = await startService(({ method }) => (isRefusing && method !== 'GET' ? status(422) : null));
  for (const name of ['site', 'shop']) await addTemplate(service, name, '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  await writeBelow(cwd, 'dns-template-sync.yaml', `notify: {ops: {type: webhook, url: ${receiver.url}}}\n`);
  for (const name of ['site', 'shop'])
    await writeBelow(cwd, `templates/${name}.yaml`, describing(name, '192.0.2.1'));
  const daemon = await startDaemon([], { cwd, env: service.env });
  await daemon.event('pass.finished');
  const edit = async (name: string, address: string): Promise<void> => {
    await writeBelow(cwd, `templates/${name}.yaml`, describing(name, address));
    await daemon.event('pass.finished');
  };
  return { cwd, daemon, edit, refuse: () => void (isRefusing = true) };
};

/** A Prometheus with the configuration of the documentation, but quicker, and with this daemon as its target. */
const startPrometheus = async (cwd: string, address: string) => {
  const [, block = ''] =
    /^(rule_files:.*)/s.exec(blocksOf('.github/docs/deployment.md', 'yaml').at(-1) ?? '') ?? [];
  const quicker = block
    .replace('scrape_interval: 1m', 'scrape_interval: 1s')
    .replace('127.0.0.1:8053', address);
  expect(quicker).toContain(`targets: ['${address}']`);
  await writeBelow(cwd, 'prometheus/prometheus.yaml', `global: { evaluation_interval: 1s }\n${quicker}`);
  await copyFile(rulesFile, path.join(cwd, 'prometheus/alerts.yaml'));
  const port = await freePort();
  const args = [
    '--config.file=prometheus.yaml',
    '--storage.tsdb.path=data',
    `--web.listen-address=127.0.0.1:${port}`,
  ];
  const child = spawn('prometheus', args, {
    cwd: path.join(cwd, 'prometheus'),
    env: withTools(),
    stdio: 'ignore',
  });
  onTestFinished(async () => {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  });
  return async (question: string): Promise<unknown> => {
    const answer = z.object({ status: z.literal('success'), data: z.unknown() });
    return answer.parse(await (await fetch(`http://127.0.0.1:${port}/api/v1/${question}`)).json()).data;
  };
};

const found = z.object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) });

/** As Grafana fills in its variables. */
const filledIn = (text: string): string =>
  text.replaceAll('$__rate_interval', '1m').replaceAll('$client', '.*');

it('Prometheus has data for every panel of the dashboard, and evaluates every alert', async () => {
  const { cwd, daemon, edit, refuse } = await busyDaemon();
  const started = daemon.lines().find(({ event }) => event === 'daemon.started');
  const ask = await startPrometheus(cwd, new URL(String(started?.['listen'])).host);
  const valueOf = async (expr: string): Promise<string | undefined> =>
    found.parse(await ask(`query?query=${encodeURIComponent(filledIn(expr))}`)).result[0]?.value[1];

  await vi.waitFor(async () => expect(await valueOf('dns_template_sync_passes_total')).toBe('1'), 60_000);
  await edit('site', '192.0.2.2');
  refuse();
  await edit('shop', '192.0.2.2');

  for (const { title, targets } of dashboard.panels)
    for (const { expr } of targets)
      await vi.waitFor(async () => {
        const value = Number(await valueOf(expr));
        expect([title, expr, Number.isFinite(value)]).toEqual([title, expr, true]);
      }, 60_000);
  const ofTemplates = dashboard.panels.find(({ title }) => title === 'Templates not in sync');
  expect(await valueOf(ofTemplates?.targets[0]?.expr ?? '')).toBe('1');

  for (const { name, query } of dashboard.templating.list) {
    const [, metric = '', label] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
    if (name === 'client') expect(await ask(`label/${label}/values?match[]=${metric}`)).toEqual(['default']);
    else expect(query).toBe('prometheus');
  }

  const rules = z.object({
    groups: z.array(z.object({ rules: z.array(z.object({ name: z.string(), health: z.string() })) })),
  });
  await vi.waitFor(async () => {
    const all = rules.parse(await ask('rules')).groups.flatMap((group) => group.rules);
    expect(new Set(all.map(({ health }) => health))).toEqual(new Set(['ok']));
    expect(all.length).toBeGreaterThan(10);
  }, 60_000);
});
