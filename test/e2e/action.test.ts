import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer } from '../hosting/scripted-server.ts';
import { addTemplate, describing } from './daemon.ts';
import { standInForDocker } from './docker.ts';
import { workplace } from './program.ts';
import { startService, userToken } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const folder = path.resolve('.github/actions/plan');
const described = z.looseObject({ description: z.string() });
const action = z
  .strictObject({
    name: z.string(),
    description: z.string(),
    inputs: z.record(z.string(), described.extend({ default: z.string().optional() })),
    outputs: z.record(z.string(), described.extend({ value: z.string() })),
    runs: z.strictObject({
      using: z.literal('composite'),
      steps: z.array(
        z.strictObject({
          id: z.string().optional(),
          if: z.string().optional(),
          shell: z.literal('bash'),
          env: z.record(z.string(), z.string()).optional(),
          run: z.string(),
        }),
      ),
    }),
  })
  .parse(parse(await readFile(path.join(folder, 'action.yml'), 'utf8')));

interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly type: string };
}

/** The comments of a pull request, 100 a page. */
const startGitHub = async (comments: Comment[]) => {
  const server = await scriptedServer((response, { method, path: address, query, headers, body }) => {
    const answer = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (headers['authorization'] !== 'Bearer the-github-token')
      return answer(401, { message: 'Bad credentials' });
    const [, id] = /\/repos\/acme\/dns\/issues\/comments\/(\d+)$/.exec(address) ?? [];
    const own = comments.find((one) => String(one.id) === id);
    if (method === 'PATCH' && own) {
      own.body = JSON.parse(body).body;
      return answer(200, own);
    }
    if (!address.endsWith('/repos/acme/dns/issues/7/comments')) return answer(404, { message: 'Not Found' });
    if (method === 'POST') {
      const made = { id: comments.length + 1, body: JSON.parse(body).body, user: { type: 'Bot' } };
      comments.push(made);
      return answer(201, made);
    }
    const page = Number(new URLSearchParams(query).get('page'));
    return answer(200, comments.slice((page - 1) * 100, page * 100));
  });
  return { url: new URL(server.url).origin, seen: server.seen };
};

/** Runs the steps as a runner does: expressions replaced, a failed step ends the job but for `always()`. */
const runAction = async (
  cwd: string,
  inputs: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>>,
): Promise<{ failed: boolean; code: string }> => {
  const output = path.join(cwd, 'output');
  await writeFile(output, '');
  const values: Record<string, string> = { 'github.token': 'the-github-token', 'github.event.number': '7' };
  for (const [name, { default: usual = '' }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = inputs[name] ?? usual.replace('${{ github.token }}', 'the-github-token');
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => values[name] ?? `unknown ${name}`);
  let failed = false;
  for (const step of action.runs.steps) {
    const condition = (step.if ?? 'true')
      .replace('always()', 'true')
      .replace("github.event_name == 'pull_request'", 'true')
      .replaceAll(/([\w.-]+) == '(\w+)'/g, (_, name: string, text: string) => String(values[name] === text));
    expect(condition).toMatch(/^(true|false)( && (true|false))*$/);
    if (condition.includes('false') || (failed && step.if?.includes('always()') !== true)) continue;
    const own = Object.fromEntries(
      Object.entries(step.env ?? {}).map(([name, text]) => [name, filled(text)]),
    );
    await writeFile(path.join(cwd, 'step'), step.run);
    await promisify(execFile)('bash', ['--noprofile', '--norc', '-eo', 'pipefail', path.join(cwd, 'step')], {
      cwd: path.join(cwd, 'repository'),
      env: { ...env, ...own, GITHUB_ACTION_PATH: folder, GITHUB_OUTPUT: output },
    }).catch((error: unknown) => {
      failed = true;
      if (process.env['SHOW_STEPS']) throw error;
    });
    const [, code] = /^code=(\d+)$/m.exec(await readFile(output, 'utf8')) ?? [];
    values['steps.plan.outputs.code'] = code ?? '';
  }
  return { failed, code: values['steps.plan.outputs.code'] ?? '' };
};

const prepared = async (comments: Comment[] = []) => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const template = (address: string): Promise<void> =>
    writeBelow(cwd, 'repository/templates/site.yaml', describing('site', address));
  await template('192.0.2.1');
  await writeBelow(cwd, 'repository/dns-template-sync.yaml', `baseUrl: ${service.url}\n`);
  await standInForDocker(cwd);
  const github = await startGitHub(comments);
  const env = {
    PATH: `${path.join(cwd, 'bin')}:${process.env['PATH']}`,
    HOME: cwd,
    // Of a job that has no base branch, so that no checkout is needed; `recipes.test.ts` has one.
    GITHUB_BASE_REF: '',
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'acme/dns',
    GITHUB_STEP_SUMMARY: path.join(cwd, 'summary.md'),
    DNS_SYNC_USER_TOKEN: userToken,
    DNS_SYNC_CLIENT_TOKEN: 'client-token',
  };
  const job = (inputs: Record<string, string> = {}, more: Record<string, string> = {}) =>
    runAction(cwd, { image: 'image', ...inputs }, { ...env, ...more });
  return { cwd, service, github, template, job, comments };
};

describe('the action', () => {
  it('adds one comment, and updates it at the next run', async () => {
    const { template, job, comments, service, cwd } = await prepared();
    expect(await job()).toEqual({ failed: false, code: '0' });
    await template('192.0.2.2');
    expect(await job()).toEqual({ failed: false, code: '2' });
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).toMatch(/^<!-- dns-template-sync plan -->\n### /);
    expect(comments[0]?.body).toContain('192.0.2.2');
    expect(await readFile(path.join(cwd, 'summary.md'), 'utf8')).toContain('192.0.2.2');
    expect(service.writes()).toEqual([]);
  });

  it('finds its comment behind many others, and takes no other one for its own', async () => {
    const others = Array.from({ length: 150 }, (_, index): Comment => {
      const isOwn = index === 140;
      return {
        id: index + 1,
        body: isOwn || index === 3 ? '<!-- dns-template-sync plan -->\nold' : 'hello',
        user: { type: isOwn ? 'Bot' : 'User' },
      };
    });
    const { job, comments } = await prepared(others);
    expect(await job()).toEqual({ failed: false, code: '0' });
    expect(comments).toHaveLength(150);
    expect(comments[140]?.body).not.toContain('old');
    expect(comments[3]?.body).toContain('old');
  });

  it('fails on drift if it is told to, and always on an error, which the comment shows', async () => {
    const { template, job, comments } = await prepared();
    await template('192.0.2.2');
    expect(await job({ 'fail-on-drift': 'true' })).toEqual({ failed: true, code: '2' });
    await template('not-an-address');
    expect(await job()).toEqual({ failed: true, code: '1' });
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).toContain('1 error');
  });

  it('fails if the comment cannot be written', async () => {
    const { job } = await prepared();
    expect(await job({ 'github-token': 'another' })).toEqual({ failed: true, code: '0' });
  });

  it('is called by the documents with inputs that it has', async () => {
    const page = await readFile('.github/docs/ci.md', 'utf8');
    const [, given = ''] = /uses: \.\/\.github\/actions\/plan\n +with:\n((?: {10}.*\n)+)/.exec(page) ?? [];
    const names = Object.keys(z.record(z.string(), z.unknown()).parse(parse(given)));
    expect(names).toContain('image');
    for (const name of names) expect(Object.keys(action.inputs)).toContain(name);
  });
});
