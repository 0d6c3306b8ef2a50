import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const built = pathToFileURL(path.resolve(import.meta.dirname, '../dist/log.mjs')).href;

/** A program of its own with a logger, since a logger writes straight to its file descriptor. */
const start = (body: string, { level = 'info', secrets = [] as string[] } = {}): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { createLogger, logTogether } from '${built}';
       const secrets = ${JSON.stringify(secrets)};
       const log = createLogger({ level: '${level}', fd: 1, secrets: () => secrets });
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

  it('is left out below the level', async () => {
    const lines = await linesOf(`log.info('no'); log.warn('yes'); log.child({ a: 1 }).error('too');`, {
      level: 'warn',
    });
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'yes'],
      ['error', 'too'],
    ]);
  });

  it('is out before the process can die', async () => {
    const lines = await linesOf(
      `for (let n = 0; n < 200; n += 1) log.info({ n }, 'line');
       process.kill(process.pid, 'SIGKILL');`,
    );
    expect(lines.map(({ n }) => n)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  it('is out, with all that were logged together, before the process can die', async () => {
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

  it('that nobody reads any more neither ends nor stops the program', async () => {
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

describe('a secret', () => {
  const secret = 'pa+ss"wo\\rd/ü';

  it('is in no line, whatever part of it, raw or encoded', async () => {
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

  it('that came later is known too', async () => {
    const lines = await linesOf(`log.info('second'); secrets.push('second'); log.info('second');`, {
      secrets: ['first'],
    });
    expect(lines.map(({ msg }) => msg)).toEqual(['second', '[secret]']);
  });
});

describe('an error', () => {
  const fieldsOf = async (expression: string): Promise<unknown> => {
    const [line] = await linesOf(`log.error({ err: ${expression} }, 'failed');`);
    return line?.['err'];
  };

  it('shows what it is allowed to show', async () => {
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

  it('nobody foresaw shows where it came from', async () => {
    expect(await fieldsOf(`new TypeError('a defect\\n    at home')`)).toEqual({
      name: 'TypeError',
      message: 'a defect\n    at home',
      stack: expect.arrayContaining([expect.stringMatching(/^at .+/)]),
    });
  });

  it('may be anything that was thrown', async () => {
    expect(await fieldsOf(`'just text'`)).toBe('just text');
  });

  it('may hold itself', async () => {
    const fields = await fieldsOf(
      `(() => { const error = new Error('round'); error.cause = error; return error; })()`,
    );
    expect(fields).toMatchObject({ cause: { cause: { cause: { message: 'round' } } } });
  });
});
