import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { testClock, type TestClock } from '../clock.ts';
import { never, triggerToken } from '../e2e/daemon.ts';
import { run, start, type Ended, type Program } from '../e2e/program.ts';
import { natureOf } from './natures.ts';
import { expanded, type Scenario, type Step } from './notation.ts';
import { derivedRecords, type ServiceData, type StoredSubdomain } from './operations.ts';
import { changed, formatRecord, formatStored, parseStored, parseTime, withValues } from './records.ts';
import { problemLine, reportLines, sentLine, type Problem, type Report } from './report-lines.ts';
import { startService, type Service } from './service.ts';
import { templateFile } from './template-file.ts';

/** Plays its steps. Gives those that say something, with what they have said. */
export const play = async ({ steps }: Scenario): Promise<(Step & { readonly said: readonly string[] })[]> => {
  const world = await openWorld();
  try {
    const played = [];
    for (const step of steps) {
      const said = await playStep(world, step);
      if (said !== null) played.push({ ...step, said });
    }
    const unmet = world.service.unmet().filter((fault) => fault !== 'fine');
    if (unmet.length > 0) throw new Error(`nothing met what was to come next: ${unmet.join(' | ')}`);
    return played;
  } finally {
    await closeWorld(world);
  }
};

interface World {
  readonly folder: string;
  readonly service: Service;
  readonly clock: TestClock;
  readonly env: Record<string, string>;
  /** How many requests had arrived before the last command. */
  reads: number;
  started: Promise<readonly string[]> | null;
  daemon: Daemon | null;
  clients: number;
}

interface Daemon extends Program {
  readonly url: string;
  /** How many writes had arrived when its last report was read. */
  readonly before: number;
}

const openWorld = async (): Promise<World> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'scenario-'));
  mkdirSync(path.join(folder, 'templates'));
  const clock = testClock();
  const service = await startService(clock.now);
  const env = {
    DNS_SYNC_BASE_URL: service.url,
    DNS_SYNC_USER_TOKEN: 'user-token',
    DNS_SYNC_CLIENT_TOKEN: 'token-default',
    DNS_SYNC_STATE_DIR: path.join(folder, 'state'),
    DNS_SYNC_SETTLE: '10s',
  };
  return { folder, service, clock, env, reads: 0, started: null, daemon: null, clients: 1 };
};

const closeWorld = async ({ folder, service, daemon }: World): Promise<void> => {
  service.release();
  daemon?.signal('SIGTERM');
  await daemon?.ended;
  await service.close();
  rmSync(folder, { recursive: true, force: true });
};

/** Null where the step says nothing. */
const playStep = async (world: World, { text, lines }: Step): Promise<readonly string[] | null> => {
  const [word = '', ...words] = wordsOf(text);
  return playInput(world, text, lines) ? null : (outputs[word] ?? command)(world, word, words, lines);
};

/** False where it is no input. */
const playInput = (world: World, text: string, lines: readonly string[]): boolean => {
  const [word = '', ...words] = wordsOf(text);
  const given = word === 'text' ? lines : lines.flatMap(expanded);
  inputs[word]?.(world, words, given, text.slice(word.length + 1));
  return word in inputs;
};

type Input = (world: World, words: readonly string[], lines: readonly string[], rest: string) => void;

/** Steps that change something beside the program. */
const inputs: Readonly<Record<string, Input>> = {
  service: ({ service }, [name = 'web', ...options], lines) =>
    service.change((data) => withTemplate(data, name, options, lines)),
  subdomain: ({ service }, [name = '', template = 'web']) =>
    service.change((data) => withSubdomain(data, name, template)),
  nature: ({ service }, _, __, words) => service.hasNature(natureOf(words)),
  next: ({ service }, _, faults, which) => service.next(which, faults),
  every: ({ service }, _, [fault = 'fine'], which) => service.every(which, fault),
  release: ({ service }) => service.release(),
  somebody: ({ service }, _, lines, rest) => {
    for (const line of lines.length > 0 ? lines : [rest])
      service.change((data) => {
        const [, name = data.templates[0]?.name ?? '', change = ''] = /^(?:in (\S+) )?(.*)$/.exec(line) ?? [];
        return data.subdomains.some((one) => one.name === name)
          ? withDerived(data, name, change)
          : changed(data, change, name);
      });
  },
  file: ({ folder }, [name = 'web'], lines) =>
    save(path.join(folder, 'templates', `${name}.yaml`), templateFile(path.basename(name), lines)),
  text: ({ folder }, [name = ''], lines) => save(path.join(folder, name), `${lines.join('\n')}\n`),
  remove: ({ folder }, [name = '']) => rmSync(path.join(folder, name), { recursive: true }),
  move: ({ folder }, [from = '', to = '']) => {
    mkdirSync(path.dirname(path.join(folder, to)), { recursive: true });
    renameSync(path.join(folder, from), path.join(folder, to));
  },
  copy: ({ folder }, [from = '', to = '']) => {
    rmSync(path.join(folder, to), { recursive: true, force: true });
    cpSync(path.join(folder, from), path.join(folder, to), { recursive: true });
  },
  env: ({ env }, words) => {
    for (const word of words) {
      const at = word.indexOf('=');
      if (at < 0) delete env[word];
      else env[word.slice(0, at)] = word.slice(at + 1);
    }
  },
  damage: ({ folder }, [name = '']) => {
    for (const end of ['-wal', '-shm']) rmSync(path.join(folder, name + end), { force: true });
    save(path.join(folder, name), 'no database');
  },
  rename: ({ service }, [from = '', to = '']) =>
    service.change((data) => ({
      ...data,
      templates: data.templates.map((one) => (one.name === from ? { ...one, name: to } : one)),
    })),
  clients: (world, names) => {
    const { folder, env } = world;
    world.clients = names.length;
    const one = (name: string): string =>
      `  ${name}: {clientToken: {env: TOKEN_${name.toUpperCase()}}, templates: templates/${name}}\n`;
    save(path.join(folder, 'dns-template-sync.yaml'), `clients:\n${names.map(one).join('')}`);
    for (const name of names) env[`TOKEN_${name.toUpperCase()}`] = `token-${name}`;
    delete env['DNS_SYNC_CLIENT_TOKEN'];
  },
  'remove-line': ({ folder }, [name = '', text = '']) => {
    const file = path.join(folder, name);
    const lines = readFileSync(file, 'utf8').split('\n');
    save(file, lines.filter((line) => !line.includes(text)).join('\n'));
  },
  spell: ({ env, service }) => {
    env['DNS_SYNC_BASE_URL'] = `${service.url.replace('http:', 'HTTP:').replace('127.0.0.1', '127.1')}/`;
  },
  wait: ({ clock }, [time = '']) => clock.forward(parseTime(time)),
  hangup: ({ daemon }) => daemon?.signal('SIGHUP'),
  jump: ({ clock }, [time = '']) => clock.set(new Date(clock.now() + parseTime(time)).toISOString()),
  changes: () => undefined,
};

/** A template that is as its file says, and that the program knows: service, file and pass in one. */
const known: Output = async (world, _, words, lines) => {
  const isRecord = (line: string): boolean => !/^[a-z]\w*: /.test(line);
  playInput(world, `service ${words.join(' ')}`.trim(), lines.filter(isRecord));
  playInput(
    world,
    `file ${words[0] ?? ''}`.trim(),
    lines.map((line) => line.replace(/^#\d+ /, '')),
  );
  const said = await command(world, 'apply', [], []);
  const others = said.filter((line) => !/^(?:\S+ )?in-sync(?: |$)/.test(line));
  if (others.length > 0) throw new Error(`not known to be in sync: ${others.join(' | ')}`);
  return lines;
};

type Output = (
  world: World,
  word: string,
  words: readonly string[],
  lines: readonly string[],
) => Promise<readonly string[]>;

/** Steps that say something beside those that are a command of the program. */
const outputs: Readonly<Record<string, Output>> = {
  truth: async ({ service }) => {
    const templates = service.data().templates.filter(({ owner }) => owner !== null);
    return templates.flatMap(({ name, records }) =>
      records.map((record) => (templates.length === 1 ? '' : `${name} `) + formatStored(record)),
    );
  },
  known,
  ask: async ({ folder, env, clock }, _, words) => {
    const { code } = await run(words, { cwd: folder, env, clock });
    return [`exit ${code}`];
  },
  start: async (world, _, [word = '', ...words]) => {
    const held = world.service.untilHeld();
    world.started = command(world, word, words, []);
    await Promise.race([held, world.started]);
    return [];
  },
  reads: async ({ service, reads }) => {
    const since = service.requests.slice(reads).map(({ operation }) => operation);
    const kinds = [...new Set(since)].filter((one) => one !== 'add' && one !== 'update');
    return kinds.map((kind) => `${since.filter((one) => one === kind).length} ${kind}`);
  },
  daemon: async (world, _, words) => {
    const { folder, env, clock, service } = world;
    const args = ['run', '--listen', '127.0.0.1:0', '--schedule', never, ...words];
    const launch = { cwd: folder, env: { ...env, DNS_SYNC_TRIGGER_TOKEN: triggerToken }, clock };
    const program = start(args, launch);
    const { listen } = await program.event('daemon.started');
    world.daemon = { ...program, url: String(listen), before: service.writes.length };
    return afterPass(world, 'startup');
  },
  pass: async (world, _, [trigger = '']) => afterPass(world, trigger),
  request: async (world) => {
    const headers = { authorization: `Bearer ${triggerToken}` };
    await fetch(`${world.daemon?.url}/api/reconcile`, { method: 'POST', headers });
    return afterPass(world, 'request');
  },
  stop: async (world) => {
    world.daemon?.signal('SIGTERM');
    const ended = await world.daemon?.ended;
    world.daemon = null;
    return [`exit ${ended?.code}`];
  },
  join: async ({ started }) => (await started) ?? [],
};

/** What the daemon reports after its next pass that was started so. */
const afterPass = async (world: World, trigger: string): Promise<readonly string[]> => {
  const { daemon, service, folder } = world;
  if (!daemon) throw new Error('no daemon runs');
  // A change of files is about one client, all else about each of them.
  const passes = trigger === 'file-change' ? 1 : world.clients;
  for (let ended = 0; ended < passes; ended += 1)
    await daemon.event('pass.finished', (line) => line['trigger'] === trigger);
  const report = (await (await fetch(`${daemon.url}/api/report`)).json()) as Report;
  world.daemon = { ...daemon, before: service.writes.length };
  return reportLines(report, service.writes.slice(daemon.before), folder);
};

const command: Output = async (world, name, words) => {
  const { service, folder, env, clock } = world;
  const form = forms[name] ?? noForm;
  const before = service.writes.length;
  world.reads = service.requests.length;
  let isKilled = false;
  service.onMishap = (mishap) => {
    if (mishap === 'loss') return rmSync(env['DNS_SYNC_STATE_DIR']!, { recursive: true });
    isKilled = true;
    cpSync(env['DNS_SYNC_STATE_DIR']!, `${folder}/killed`, { recursive: true });
  };
  const ended = await run([name, ...form.options, ...words], { cwd: folder, env, clock });
  if (process.env['SCENARIOS'] === 'say') process.stderr.write(ended.stderr + ended.stdout);
  const writes = service.writes.slice(before);
  if (isKilled) {
    rmSync(env['DNS_SYNC_STATE_DIR']!, { recursive: true });
    renameSync(`${folder}/killed`, env['DNS_SYNC_STATE_DIR']!);
    service.revive();
    return [...writes.map((write) => sentLine(write)), 'killed'];
  }
  const out = words.indexOf('--out');
  const file = path.join(folder, words[out + 1] ?? '');
  const stdout = out >= 0 && existsSync(file) ? readFileSync(file, 'utf8') : ended.stdout;
  const said = form.lines({ ...ended, stdout }, writes, folder);
  return [...said, ...(ended.code === 0 ? [] : [`exit ${ended.code}`])];
};

interface Form {
  /** Without which it would ask, or speak to people. */
  readonly options: readonly string[];
  readonly lines: (ended: Ended, writes: Service['writes'], folder: string) => readonly string[];
}

const ofReport: Form['lines'] = ({ stdout }, writes, folder) => {
  if (!stdout.startsWith('{')) {
    return [...writes.map((write) => `${sentLine(write)} UNREPORTED`), 'no report'];
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- other tests check its form
  const report = JSON.parse(stdout) as Report;
  return reportLines(report, writes, folder);
};

interface HistoryEntry {
  readonly action: string;
  readonly recordId?: number | null;
  readonly after: Parameters<typeof formatRecord>[0];
  readonly outcome: string;
}

const forms: Readonly<Record<string, Form>> = {
  plan: { options: ['--format', 'json'], lines: ofReport },
  apply: { options: ['--yes', '--format', 'json'], lines: ofReport },
  validate: {
    options: ['--format', 'json'],
    lines: ({ stdout }) =>
      (JSON.parse(stdout) as { readonly problems: readonly Problem[] }).problems.map(problemLine),
  },
  history: {
    options: ['--format', 'json'],
    lines: ({ stdout }) =>
      (JSON.parse(stdout) as HistoryEntry[]).map(
        ({ action, after, outcome }) => `${action} ${formatRecord(after)} ${outcome}`,
      ),
  },
  accept: { options: ['--yes'], lines: () => [] },
};

const noForm: Form = { options: [], lines: () => [] };

const withTemplate = (
  data: ServiceData,
  name: string,
  options: readonly string[],
  lines: readonly string[],
): ServiceData => {
  let { lastId } = data;
  const records = lines.map((line) => {
    const record = parseStored(line, lastId + 1);
    lastId = Math.max(lastId, record.id);
    return record;
  });
  const id = Number(options.find((one) => /^\d+$/.test(one)) ?? (data.templates.length + 1) * 10);
  const of = options.find((one) => one.startsWith('of='))?.slice('of='.length) ?? 'default';
  const owner = options.includes('public') ? null : of;
  return { ...data, lastId, templates: [...data.templates, { id, name, owner, records }] };
};

/** One that follows its template: a name that is known follows it again. */
const withSubdomain = (data: ServiceData, name: string, template: string): ServiceData => {
  const templateId = data.templates.find((one) => one.name === template)?.id ?? 0;
  const others = data.subdomains.filter((one) => one.name !== name);
  return { ...data, subdomains: [...others, { name, templateId, own: null }] };
};

/** From here on it follows its template no more. */
const withDerived = (data: ServiceData, name: string, line: string): ServiceData => {
  const change = (one: StoredSubdomain): StoredSubdomain => {
    const own = derivedRecords(data, one);
    const [, sign = '', rest = ''] = /^([-+~])?(?: (.*))?$/.exec(line) ?? [];
    const [, id = '', of, values = ''] = /^#(\d+)(?: of #(\d+))?(?: (.*))?$/.exec(rest) ?? [];
    if (sign === '-') return { ...one, own: own.filter((record) => String(record.id) !== id) };
    if (sign === '~')
      return {
        ...one,
        own: own.map((record) => (String(record.id) === id ? withValues(record, values) : record)),
      };
    if (sign !== '+') return { ...one, own };
    const made = { ...parseStored(values, Number(id)), id: Number(id) };
    return {
      ...one,
      own: [...own, { ...made, dns_template_record_id: of === undefined ? null : Number(of) }],
    };
  };
  return { ...data, subdomains: data.subdomains.map((one) => (one.name === name ? change(one) : one)) };
};

/** As an editor does: another file takes the place of the first one. */
const save = (file: string, text: string): void => {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}~`, text);
  renameSync(`${file}~`, file);
};

/** As a shell splits them. */
const wordsOf = (text: string): string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
