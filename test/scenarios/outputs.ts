import { cpSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { never, triggerToken } from '../daemon/daemon.ts';
import { linesOf, run, start, type Ended, type Launch, type LogLine } from '../program.ts';
import { formatRecord, formatStored } from './records.ts';
import type { Report } from '../../src/result.ts';
import type { WriteEntry } from '../../src/status-page/facts.ts';
import { problemLine, reportLines, sentLine } from './report-lines.ts';
import type { Service } from './service.ts';
import type { World } from './world.ts';

export type Output = (world: World, word: string, words: readonly string[]) => Promise<readonly string[]>;

/** Steps that say something beside those that are a command of the program. */
export const outputs: Readonly<Record<string, Output>> = {
  truth: async ({ service }) => {
    const templates = service.data().templates.filter(({ owner }) => owner !== null);
    return templates.flatMap(({ name, records }) =>
      records.map((record) => (templates.length === 1 ? '' : `${name} `) + formatStored(record)),
    );
  },
  // Every line of a command, but for those that say what is usual here.
  prints: async (world, _, words) => (await linesOfRun(world, words)).filter((line) => !usual.test(line)),
  // With those, too.
  tells: (world, _, words) => linesOfRun(world, words),
  // The lines that have a text.
  finds: async (world, _, [text = '', ...words]) =>
    (await linesOfRun(world, words)).filter((line) => line.includes(text) || /^exit \d/.test(line)),
  // Its first line and how it ends.
  begins: async (world, _, words) => {
    const { code, stdout, stderr } = await run(words, launchIn(world));
    return printed(world, { code, stdout: `${stdout.split('\n', 1).join()}\n`, stderr });
  },
  // The same on a terminal, where somebody types an answer if something is asked.
  typed: async (world, _, [answer = '', ...words]) => {
    const { says, type, ended } = start(words, { ...launchIn(world), isTerminal: true });
    await Promise.race([says('[y/N]'), ended]).catch(() => undefined);
    type(keys[answer] ?? `${answer}\n`);
    return printed(world, await ended);
  },
  // The same from the question on.
  asked: async (world, _, words) => {
    const lines = (await outputs['typed']?.(world, 'typed', words)) ?? [];
    return lines.slice(lines.findIndex((line) => line.includes('[y/N]')));
  },
  // What a file holds, or the lines with one of these words.
  shows: async ({ folder }, _, [name = '', ...words]) => {
    const lines = readFileSync(path.join(folder, name), 'utf8').split('\n');
    const isAsked = (line: string): boolean =>
      words.length === 0 || words.some((word) => line.includes(word));
    return lines.filter((line) => line !== '' && !line.startsWith('#') && isAsked(line));
  },
  // How many lines the daemon has logged, by event.
  log: async ({ daemon }) => {
    const events = (daemon ? linesOf(daemon) : []).map(({ event }) => String(event));
    return [...new Set(events)].map((event) => `${events.filter((one) => one === event).length} ${event}`);
  },
  // What it has logged since the last time, once there is something: all of it, or the lines of an event.
  logs: async (world, _, [asked]) => {
    const { daemon } = world;
    if (!daemon) throw new Error('no daemon runs');
    const isAsked = ({ event }: LogLine): boolean => asked === undefined || event === asked;
    const next = daemon.line(isAsked);
    if (!linesOf(daemon).slice(world.logged).some(isAsked)) await next;
    const lines = linesOf(daemon).slice(world.logged);
    world.logged += lines.length;
    const shown = lines.filter(isAsked).map(({ time: _time, ...line }) => JSON.stringify(line));
    return named(world, ...shown);
  },
  // What it answers: of a page the words, of metrics the lines with one of these words.
  asks: async (world, _, [place = '', ...words]) => {
    const answer = await fetch(`${world.daemon?.url}${place}`);
    const text = await answer.text();
    const isAsked = (line: string): boolean =>
      !/^#| 0$/.test(line) && words.some((word) => line.includes(word));
    const said = words.length > 0 ? text.split('\n').filter(isAsked).join('\n') : text;
    return [...(answer.ok ? [] : [`status ${answer.status}`]), ...named(world, said)];
  },
  start: async (world, _, [word = '', ...words]) => {
    const held = world.service.untilHeld();
    world.started = Promise.resolve((outputs[word] ?? command)(world, word, words));
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
    world.logged = 0;
    world.names.push([String(listen), 'LISTEN']);
    return afterPass(world, 'startup');
  },
  pass: async (world, _, [trigger = '']) => afterPass(world, trigger),
  // Of all clients, or of those of a name or pattern.
  request: async (world, _, [client]) => {
    const headers = { authorization: `Bearer ${triggerToken}` };
    const query = client === undefined ? '' : `?client=${client}`;
    const answer = await fetch(`${world.daemon?.url}/api/reconcile${query}`, { method: 'POST', headers });
    if (answer.status !== 202) return [`${answer.status} ${await answer.text()}`];
    return afterPass(world, 'request', client === undefined ? world.clients : 1);
  },
  stop: async (world) => {
    world.daemon?.signal('SIGTERM');
    const ended = await world.daemon?.ended;
    world.daemon = null;
    return [`exit ${ended?.code}`];
  },
  join: async ({ started }) => (await started) ?? [],
};

const usual = new RegExp(
  [
    ' settings from .*, since it is there; --no-config reads none$',
    ' planned without saved state: there is none in .* yet$',
    ' no saved state for this client yet in .*: first writes wait for a second listing$',
    'waiting 10 s: then the service is read once more$',
    '^= same as to the left, ',
  ].join('|'),
);

const launchIn = ({ folder, env, clock }: World): Launch => ({ cwd: folder, env, clock });

const linesOfRun = async (world: World, words: readonly string[]): Promise<readonly string[]> =>
  printed(world, await run(words, launchIn(world)));

const keys: Readonly<Record<string, string | undefined>> = { 'Ctrl-C': '\u0003', 'Ctrl-D': '\u0004' };

const printed = (world: World, { code, stdout, stderr }: Ended): string[] => [
  ...named(world, stdout, stderr),
  ...(code === 0 ? [] : [`exit ${code}`]),
];

/** JSON in as few lines as can be read, and of a page the words. */
const shownText = (text: string): string => {
  if (/^[[{]/.test(text)) return folded(JSON.parse(text));
  const [, page] = /<main.*?>(.*)<\/main>/s.exec(text) ?? [];
  const lines = page?.replaceAll(/\s+/g, ' ').split(/<\/(?:p|li|tr|h\d|div|section|summary)>/);
  return (
    lines
      ?.map((line) =>
        line
          .replaceAll(/<[^>]+>/g, ' ')
          .replaceAll(/\s+/g, ' ')
          .trim(),
      )
      .join('\n') ?? text
  );
};

const folded = (value: unknown, indent = ''): string => {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + flat.length <= 105) return flat;
  const within = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => folded(one, within))
    : Object.entries(value).map(([key, one]) => `"${key}": ${folded(one, within)}`);
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    const isTogether = last !== undefined && !part.includes('\n') && last.length + part.length < 105;
    if (isTogether && !last.includes('\n')) lines[lines.length - 1] = `${last}, ${part}`;
    else lines.push(within + part);
  }
  const [open = '', close = ''] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
};

/** Every line, where what is another one each time has a name instead. */
const named = ({ folder, service, names }: World, ...texts: readonly string[]): string[] => {
  const said = texts.join('\n');
  for (const [id] of said.matchAll(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g))
    if (!names.some(([known]) => known === id))
      names.push([id, `id-${names.filter(([, name]) => name.startsWith('id-')).length + 1}`]);
  if (/user-token|token-default/.test(said)) throw new Error(`it shows a token: ${said}`);
  const changing: readonly (readonly [what: string | RegExp, name: string])[] = [
    ...names,
    [folder, '.'],
    [service.url, 'URL'],
    [/\bprocess \d+ on \S+, since [\dTZ:.-]+/g, 'process PID on HOST'],
    [/\b127\.0\.0\.1:\d+(?=\/api)/g, 'HOST'],
    [/(?<=differs by )\d+(?= s)|(?<=\buid )\d+/g, 'N'],
    // oxlint-disable-next-line no-control-regex -- of a line that says how long something takes, and of a question
    [/\r\u001B\[K(?:[^\r\n]* \d+ s)?|\u001B\[\d*[A-Z]/g, '\n'],
  ];
  const shown = texts.map((text) =>
    shownText(changing.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)),
  );
  return shown
    .join('\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
};

/** What the daemon reports after its next pass that was started so. */
const afterPass = async (
  world: World,
  trigger: string,
  // A change of files is about one client, all else about each of them.
  passes = trigger === 'file-change' ? 1 : world.clients,
): Promise<readonly string[]> => {
  const { daemon, service, folder } = world;
  if (!daemon) throw new Error('no daemon runs');
  for (let ended = 0; ended < passes; ended += 1)
    await daemon.event('pass.finished', (line) => line['trigger'] === trigger);
  const report = (await (await fetch(`${daemon.url}/api/report`)).json()) as Report;
  world.daemon = { ...daemon, before: service.writes.length };
  return reportLines(report, service.writes.slice(daemon.before), folder);
};

export const command: Output = async (world, name, words) => {
  const { service, folder, env, clock } = world;
  const form = forms[name];
  if (!form) throw new Error('no such step');
  const before = service.writes.length;
  world.reads = service.requests.length;
  let isKilled = false;
  service.onMishap = (mishap) => {
    if (typeof mishap === 'number') return clock.set(new Date(clock.now() + mishap).toISOString());
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

const forms: Readonly<Record<string, Form>> = {
  plan: { options: ['--format', 'json'], lines: ofReport },
  apply: { options: ['--yes', '--format', 'json'], lines: ofReport },
  validate: {
    options: ['--format', 'json'],
    lines: ({ stdout }) => (JSON.parse(stdout) as Pick<Report, 'problems'>).problems.map(problemLine),
  },
  history: {
    options: ['--format', 'json'],
    lines: ({ stdout }) =>
      (JSON.parse(stdout) as WriteEntry[]).map(
        ({ action, after, outcome }) => `${action} ${formatRecord(after)} ${outcome}`,
      ),
  },
  accept: { options: ['--yes'], lines: () => [] },
  import: { options: [], lines: () => [] },
  suspend: { options: [], lines: () => [] },
  resume: { options: [], lines: () => [] },
};
