import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const built = pathToFileURL(path.resolve(import.meta.dirname, '../dist/tests/log.mjs')).href;

/** A program of its own with a logger, since a logger writes straight to its file descriptor. */
const start = (body: string, { level = 'info', secrets = [] as string[] } = {}): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createLogger, logTogether } from '${built}';
       const secrets = ${JSON.stringify(secrets)};
       const log = createLogger({ level: '${level}', out: process.stdout, secrets: () => secrets, now: Date.now });
       ${body}`,
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );

const outputOf = async (child: ChildProcess): Promise<string> => {
  const { stdout, stderr } = child;
  if (!stdout || !stderr) throw new Error('no pipes');
  const [out, errors] = await Promise.all([text(stdout), text(stderr)]);
  expect(errors).toBe('');
  return out;
};

const linesOf = async (
  body: string,
  options?: Parameters<typeof start>[1],
): Promise<Record<string, unknown>[]> =>
  (await outputOf(start(body, options)))
    .trimEnd()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));

describe('a log line', () => {
  it('is one JSON object with level, time, message and fields, and nothing else', async () => {
    const [line, ...others] = await linesOf(
      `log.info({ event: 'daemon.started', client: 'a' }, 'daemon started');`,
    );
    expect(others).toEqual([]);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      event: 'daemon.started',
      client: 'a',
      msg: 'daemon started',
    });
  });

  it('contains no command for a CI runner', async () => {
    const out = await outputOf(
      start(`log.info({ a: '##[add-mask]com', b: ['##vso[task.complete]'] }, 'line');`),
    );
    expect(out).not.toMatch(/##(vso)?\[/);
    expect(JSON.parse(out)).toMatchObject({ a: '##[add-mask]com', b: ['##vso[task.complete]'] });
  });

  it('is left out below the level', async () => {
    const lines = await linesOf(`log.info('no'); log.warn('yes'); log.child({ a: 1 }).error('too');`, {
      level: 'warn',
    });
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'yes'],
      ['error', 'too'],
    ]);
  });

  it('is written before the process can die', async () => {
    const lines = await linesOf(
      `for (let n = 0; n < 200; n += 1) log.info({ n }, 'line');
       process.kill(process.pid, 'SIGKILL');`,
    );
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  it('is written, with all lines logged together, before the process can die', async () => {
    const lines = await linesOf(
      `try {
         logTogether(log, () => {
           for (let n = 0; n < 2_000; n += 1) log.info({ n, more: 'x'.repeat(100) }, 'line');
           throw new Error('no more');
         });
       } catch { process.kill(process.pid, 'SIGKILL'); }`,
    );
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 2_000 }, (_, n) => n));
  });

  it('without a reader neither ends nor blocks the program', async () => {
    const child = start(
      `for (let n = 0; ; n += 1) {
         log.info({ n }, 'line');
         if (n === 100_000) { process.stderr.write('went on'); process.exit(0); }
       }`,
    );
    child.stdout?.once('data', () => child.stdout?.destroy());
    const errors = child.stderr ? text(child.stderr) : '';
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(await errors).toBe('went on');
  });
});

describe('a line that is too long for the destination', () => {
  const among = async (fields: string): Promise<Record<string, unknown>> => {
    const lines = await linesOf(
      `logTogether(log, () => {
         log.info('before');
         log.info({ event: 'long', client: 'a', ...${fields} }, 'long');
         log.info('after');
       });
       log.info('later');`,
      { secrets: ['the-secret'] },
    );
    expect(lines.map(({ msg }) => msg)).toEqual(['before', 'long', 'after', 'later']);
    return lines[1] ?? {};
  };

  it('keeps the first of many differences, and says how many more there are', async () => {
    const line = await among(
      `{ differences: Array.from({ length: 8_000 }, (_, id) => ({ id, content: 'x'.repeat(200) })), status: 'drifted' }`,
    );
    const { differences } = line;
    if (!Array.isArray(differences)) throw new Error('no list');
    expect(differences.length).toBeGreaterThan(99);
    expect(differences.map(({ id }) => id)).toEqual(differences.map((_, index) => index));
    expect(line).toMatchObject({ status: 'drifted', cut: { differences: 8_000 - differences.length } });
  });

  it.each([
    ['a long text', `{ message: 'ü'.repeat(3_000_000) }`],
    ['many texts of some length', `{ all: Array.from({ length: 900 }, () => ['x'.repeat(7_000)]) }`],
    ['many keys', `Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => ['key' + n, n]))`],
    ['a list deep inside', `{ one: { two: [{ three: Array.from({ length: 1_000_000 }, () => 'text') }] } }`],
  ])('says where it is cut: %s', async (_, fields) => {
    const line = await among(fields);
    expect(line).toMatchObject({ event: 'long', client: 'a' });
    expect(JSON.stringify(line)).toMatch(/characters more|"cut"/);
  });

  it('is cut beside a secret, not inside it', async () => {
    const line = await among(
      `{ message: Array.from({ length: 200 }, (_, n) => 'x'.repeat(n)).join('the-secret').repeat(60) }`,
    );
    expect(String(line['message']).replaceAll('[secret]', '')).toMatch(/^x*… \(\d+ characters more\)$/);
  });
});

describe('a secret', () => {
  const secret = 'pa+ss"wo\\rd/ü';

  it('is in no line, raw or encoded, in whole or in part', async () => {
    const out = await outputOf(
      start(
        `const secret = secrets[0];
         const url = 'https://x/?user_token=' + encodeURIComponent(secret);
         const form = new URLSearchParams({ user_token: secret }).toString();
         log.info({ url, form, nested: [{ secret }], [secret]: 1 }, 'with ' + secret);
         log.error({ err: Object.assign(new Error('bad ' + url), { code: secret }) }, 'failed');
         log.child({ secret }).fatal(new TypeError(form, { cause: new Error(secret) }));`,
        { secrets: [secret] },
      ),
    );
    expect(out.trimEnd().split('\n')).toHaveLength(3);
    expect(out).not.toMatch(/ss.{0,6}wo/);
    expect(out.match(/\[secret\]/g)?.length).toBe(11);
    for (const line of out.trimEnd().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
  });

  it('that is one of our words stays in our messages, and is removed from foreign text', async () => {
    const secrets = ['info', 'Status', 'user', 'pass', 'pass.started', '4711'];
    const [line, error] = await linesOf(
      `log.info({ event: 'pass.started', status: 'in-sync', user: 4711, template: 'user info' }, 'pass started');
       log.error(new Error('no such user'));`,
      { secrets },
    );
    expect(line).toMatchObject({
      level: 'info',
      event: 'pass.started',
      status: 'in-sync',
      user: 4711,
      template: '[secret] [secret]',
      msg: 'pass started',
    });
    expect(error).toMatchObject({ err: { message: 'no such [secret]' }, msg: 'no such [secret]' });
  });

  it('that was added later is redacted too', async () => {
    const lines = await linesOf(
      `const say = () => log.info({ template: 'second' }, 'line'); say(); secrets.push('second'); say();`,
      {
        secrets: ['first'],
      },
    );
    expect(lines.map(({ template }) => template)).toEqual(['second', '[secret]']);
  });
});

describe('an error', () => {
  const fieldsOf = async (expression: string): Promise<unknown> => {
    const [line] = await linesOf(`log.error({ err: ${expression} }, 'failed');`);
    return line?.['err'];
  };

  it('shows only the allowed fields', async () => {
    const error = `Object.assign(new Error('no answer', { cause: Object.assign(new Error('refused'), { code: 'ECONNREFUSED', input: 'x' }) }),
      { name: 'HostingError', kind: 'network', status: 502, code: { deep: 1 }, headers: { cookie: 'x' }, data: 'x', response: {} })`;
    expect(await fieldsOf(error)).toEqual({
      name: 'HostingError',
      message: 'no answer',
      kind: 'network',
      status: 502,
      cause: { name: 'Error', message: 'refused', code: 'ECONNREFUSED' },
    });
  });

  it('without a code shows its stack', async () => {
    expect(await fieldsOf(`new TypeError('a defect\\n    at home')`)).toEqual({
      name: 'TypeError',
      message: 'a defect\n    at home',
      stack: expect.arrayContaining([expect.stringMatching(/^at .+/)]),
    });
  });

  it('may be any thrown value', async () => {
    expect(await fieldsOf(`'just text'`)).toBe('just text');
  });

  it('may contain itself', async () => {
    const fields = await fieldsOf(
      `(() => { const error = new Error('round'); error.cause = error; return error; })()`,
    );
    expect(fields).toMatchObject({ cause: { cause: { cause: { message: 'round' } } } });
  });
});
