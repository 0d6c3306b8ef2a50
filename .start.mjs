// npm start: the daemon on the embedded service with its example data. On a terminal its log is put into words, and
// anywhere else it is what it always is: one JSON object a line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import path from 'node:path';
import { finished } from 'node:stream/promises';

const root = import.meta.dirname;
const main = path.join(root, 'dist/main.js');
const args = [
  'run',
  '--sandbox',
  '--reset',
  '--config',
  path.join(root, '.demo.yaml'),
  ...process.argv.slice(2),
];

const runOnTerminal = async () => {
  const { default: pretty } = await import('pino-pretty');
  const daemon = spawn(process.execPath, [main, ...args], { stdio: ['inherit', 'pipe', 'inherit'] });
  // From a terminal it has the signal already, and takes the same one twice within a moment for one.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => daemon.kill(signal));
  process.on('SIGHUP', () => daemon.kill('SIGTERM'));
  process.stdout.on('error', () => undefined);
  const ended = once(daemon, 'exit');
  const words = pretty({
    colorize: process.stdout.hasColors(),
    translateTime: 'SYS:HH:MM:ss.l',
    hideObject: true,
    messageFormat: (line) => tell(line),
    sync: true,
  });
  await finished(daemon.stdout.pipe(words));
  const [code, signal] = await ended;
  process.exitCode = code ?? 128 + constants.signals[signal];
};

/** A line of the log in words. What came from the service or a file must not steer the terminal. */
const tell = (line) => (inWords[line.event] ?? others)(line).split('\n').map(visible).join('\n');

const inWords = {
  'daemon.started': ({ clients, listen }) =>
    clients
      .map(
        ({ baseUrl, schedule }) =>
          `daemon started on ${baseUrl}, schedule ${schedule}, ${listen === null ? 'no status page' : `status page ${listen}/`}`,
      )
      .join('\n'),
  'pass.started': ({ trigger }) => `pass started by ${trigger}`,
  'change.applied': (change) => `applied  ${ofChange(change)}`,
  'change.failed': (change) => `failed   ${ofChange(change)}: ${change.error}`,
  'change.unknown': (change) => `unknown  ${ofChange(change)}: ${change.error}`,
  'drift.report': ({ template, status, message, inSync, differences }) =>
    [`${template}: ${status}`, message, `${inSync} in sync`, ...differences.filter(isLeft).map(ofDifference)]
      .filter((part) => part !== null)
      .join(', '),
  'pass.finished': ({ status, durationMs, summary, error }) =>
    `pass finished: ${error ?? status}, ${countsOf(summary)}, ${durationMs} ms`,
  'answers.report': ({ subdomain, answers }) =>
    `${subdomain}: name servers ${answers.status}, ${answers.differences.map(ofAnswer).join(', ')}`,
  'answers.finished': ({ subdomains, durationMs }) =>
    `name servers asked: ${Object.entries(subdomains)
      .flatMap(([state, count]) => (count > 0 ? `${count} ${state}` : []))
      .join(', ')}, ${durationMs} ms`,
  'templates.invalid': ({ problems }) =>
    problems
      .map(({ file, line, column, message, check }) => `${file}:${line}:${column}: ${message} [${check}]`)
      .join('\n'),
};

const others = (line) => {
  const rest = Object.entries(line).filter(([name]) => !toldAlready.has(name));
  return [line.msg, line.err?.message, ...rest.map(([name, value]) => `${name} ${JSON.stringify(value)}`)]
    .filter(Boolean)
    .join(', ');
};

const toldAlready = new Set(['level', 'time', 'event', 'msg', 'err']);

const ofChange = ({ action, template, recordId, before, after }) =>
  `${action} ${template} #${recordId}: ${[before, after].filter(Boolean).map(ofRecord).join(' → ')}`;

const ofRecord = ({ type, name, content, priority, ttl }) =>
  [name ?? '@', type, priority, content, ttl === null ? null : `ttl ${ttl}`]
    .filter((part) => part !== null)
    .join(' ');

const isLeft = ({ outcome }) => outcome !== 'applied';

const ofDifference = ({ action, reason, desired, current }) =>
  [action, reason, ofRecord(desired ?? current)].filter(Boolean).join(' ');

const ofAnswer = ({ kind, name, type, current }) =>
  [kind, name, type, current.map(({ content }) => content).join(' ')].filter(Boolean).join(' ');

const countsOf = ({ templates, inSync, ...counts }) =>
  [`${templates} templates`, `${inSync} in sync`]
    .concat(Object.entries(counts).flatMap(([name, count]) => (count > 0 ? `${name} ${count}` : [])))
    .join(', ');

const visible = (text) =>
  text.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

if (process.stdout.isTTY) {
  await runOnTerminal();
} else {
  process.argv.splice(1, Infinity, main, ...args);
  await import(main);
}
