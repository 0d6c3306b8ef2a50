import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { eventLine, startProgram } from './children.mjs';
import { startFaultyFront } from './faulty-front.mjs';
import { median, randomOf } from './statistics.mjs';

/**
 * Many passes of the daemon over many records, with changes on both sides and faults between them. What it holds
 * on to must not grow: its memory, its handles, its connections. Options: --passes, --records, --seed.
 */
export const measure = async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      passes: { type: 'string', default: '2000' },
      records: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const [records, seed] = [values.records, values.seed].map(Number);
  const passes = Math.ceil(Number(values.passes) / 4) * 4;
  const cwd = await mkdtemp(path.join(tmpdir(), 'soak-'));
  const random = randomOf(seed);
  const sandbox = startProgram(['sandbox', '--listen', '127.0.0.1:0', '--data', 'service.json'], { cwd });
  try {
    const service = await sandbox.line((text) => /http\S+(?=\/api\/v1)/.exec(text)?.[0] ?? null);
    const front = await startFaultyFront(new URL(service), random);
    const world = await makeWorld({ cwd, service, records, random });
    const started = performance.now();
    const { samples, exitCode } = await soak({ cwd, front, world, passes });
    front.close();
    const result = {
      passes,
      records,
      seed,
      seconds: Math.round((performance.now() - started) / 1_000),
      faults: front.faults.count,
      failedPasses: samples.filter(({ failed }) => failed).length,
      writes: samples.at(-1).writes,
      exitCode,
      quarters: quartersOf(samples),
    };
    const problems = problemsIn(result);
    process.stdout.write(`${tableOf(result)}\n${JSON.stringify({ ...result, problems })}\n`);
    return problems.length === 0 ? 0 : 1;
  } finally {
    sandbox.end();
    await sandbox.ended;
    await rm(cwd, { recursive: true });
  }
};

const perTemplate = 1_000;

/** Templates at the service and in files, and what other people do to both. */
const makeWorld = async ({ cwd, service, records, random }) => {
  const change = async (name, body) => {
    const answer = await fetch(`${service}/sandbox/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  const templates = [];
  for (let from = 0; from < records; from += perTemplate) {
    const addresses = Array.from({ length: Math.min(perTemplate, records - from) }, () => '192.0.2.1');
    const ids = addresses.map((_, index) => 1_000 + from + index);
    templates.push({ id: templates.length + 1, name: `template-${templates.length}`, ids, addresses });
  }
  const recordsOf = ({ ids, addresses }) =>
    ids.map((id, index) => ({
      id,
      type: 'A',
      name: `host-${index}`,
      content: addresses[index],
      priority: null,
      ttl: 3600,
    }));
  const data = {
    version: 2,
    next_id: 1_000 + records,
    dns_templates: templates.map(({ id, name, ...template }) => ({
      id,
      name,
      publicly_available: false,
      dns_template_records: recordsOf({ ...template }),
    })),
    subdomains: [],
  };
  // The service looks at its file before each answer.
  await writeFile(path.join(cwd, 'service.json'), JSON.stringify(data));
  const writeTemplate = ({ name, addresses }) =>
    writeFile(
      path.join(cwd, `${name}.yaml`),
      `template: ${name}\nrecords:\n${addresses.map((address, index) => `  - {type: A, name: host-${index}, content: ${address}}\n`).join('')}`,
    );
  for (const template of templates) await writeTemplate(template);

  const some = (list) => list[Math.floor(random() * list.length)];
  const address = () => `198.51.100.${Math.floor(random() * 256)}`;
  return {
    /** Somebody else at the service. */
    drift: async () => {
      const record_id = some(some(templates).ids);
      await (random() < 0.1
        ? change('remove-record', { record_id })
        : change('edit-record', { record_id, content: address() }));
    },
    /** Somebody at the files. */
    edit: async () => {
      const template = some(templates);
      template.addresses[Math.floor(random() * template.addresses.length)] = address();
      await writeTemplate(template);
    },
    random,
  };
};

const token = 'trigger-token-of-the-soak';

const soak = async ({ cwd, front, world, passes }) => {
  const daemon = startProgram(
    ['run', '--templates', '.', '--listen', '127.0.0.1:0', '--schedule', '0 0 29 2 *'],
    {
      cwd,
      env: {
        DNS_SYNC_BASE_URL: `${front.url}/api/v1`,
        DNS_SYNC_USER_TOKEN: 'user-token',
        DNS_SYNC_CLIENT_TOKEN: 'client-token',
        DNS_SYNC_TRIGGER_TOKEN: token,
        DNS_SYNC_STATE_DIR: path.join(cwd, '.state'),
        DNS_SYNC_REQUEST_TIMEOUT: '3s',
        DNS_SYNC_WRITE_TIMEOUT: '1s',
        DNS_SYNC_SETTLE: '0s',
        DNS_SYNC_UNKNOWN_PAUSE: '1s',
      },
    },
  );
  const { listen } = await daemon.line(eventLine('daemon.started'));
  await daemon.line(eventLine('pass.finished'));
  const samples = [];
  for (let pass = 1; pass <= passes; pass += 1) {
    if (world.random() < 0.5) await world.drift();
    if (world.random() < 0.1) await world.edit();
    const finished = daemon.line(eventLine('pass.finished', ({ trigger }) => trigger === 'request'));
    await fetch(`${listen}/api/reconcile`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    const { status } = await finished;
    samples.push({
      ...(await sampleOf(listen)),
      connections: front.mostConnections(),
      failed: status === 'failed',
    });
    if (pass % (passes / 4) === 0) samples.at(-1).rest = await restOf(listen);
    if (pass % 100 === 0) process.stderr.write(`${pass} of ${passes} passes\n`);
  }
  daemon.end();
  return { samples, exitCode: await daemon.ended };
};

const sampleOf = async (listen) => {
  const text = await (await fetch(`${listen}/metrics`)).text();
  const sum = (name) =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))].reduce(
      (all, [, value]) => all + Number(value),
      0,
    );
  return {
    memory: sum('process_resident_memory_bytes'),
    heap: sum('nodejs_heap_size_used_bytes'),
    files: sum('process_open_fds'),
    handles: sum('nodejs_active_resources'),
    writes: sum('dns_template_sync_changes_total'),
  };
};

/** The least of some looks while there is nothing to do. */
const restOf = async (listen) => {
  const looks = [];
  for (let look = 0; look < 5; look += 1) {
    await setTimeout(1_000);
    looks.push(await sampleOf(listen));
  }
  const least = (name) => Math.min(...looks.map((one) => one[name]));
  return { files: least('files'), handles: least('handles') };
};

const quartersOf = (samples) =>
  [0, 1, 2, 3].map((quarter) => {
    const part = samples.slice((quarter * samples.length) / 4, ((quarter + 1) * samples.length) / 4);
    const values = (name) => part.map((sample) => sample[name]);
    return {
      memoryMiB: inMiB(median(values('memory'))),
      // What is left after garbage was collected; databases are closed with it too.
      leastHeapMiB: inMiB(Math.min(...values('heap'))),
      mostFiles: Math.max(...values('files')),
      filesAtRest: part.at(-1).rest.files,
      handlesAtRest: part.at(-1).rest.handles,
      mostConnections: Math.max(...values('connections')),
    };
  });

const inMiB = (bytes) => Math.round((bytes / 2 ** 20) * 10) / 10;

/** The first quarter is the warm-up. What every pass left open would count some thousand by the last; a few more are chance. */
const problemsIn = ({ quarters, exitCode }) => {
  const [, second, , last] = quarters;
  return [
    ...(last.memoryMiB > second.memoryMiB * 1.05 ? ['resident memory grows'] : []),
    ...(last.mostFiles > second.mostFiles + 5 ? ['open files grow'] : []),
    ...(last.handlesAtRest > second.handlesAtRest + 2 ? ['handles are left open'] : []),
    ...(quarters.some(({ mostConnections }) => mostConnections > allowedConnections)
      ? ['too many connections']
      : []),
    ...(exitCode === 0 ? [] : [`ended with ${exitCode}`]),
  ];
};

/** Kept ones for reads, by the default of `concurrency`, and one for a write. */
const allowedConnections = 9;

const tableOf = ({ quarters, ...rest }) => {
  const rows = [Object.keys(quarters[0]), ...quarters.map((quarter) => Object.values(quarter))];
  const columns = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const lines = rows.map((row, index) =>
    [
      index === 0 ? 'quarter' : String(index).padStart(7),
      ...row.map((cell, column) => String(cell).padStart(columns[column])),
    ].join('  '),
  );
  const facts = Object.entries(rest).map(([name, value]) => `${name} ${value}`);
  return [facts.join(', '), ...lines].join('\n');
};
