import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { scriptedServer } from '../wire/scripted-server.ts';
import { runScript, type PullRequest } from './pull-request.ts';

const folder = path.resolve('.github/actions/plan');
const string = z.string();

/** Strict where another key would change what a runner does. */
export const action = z
  .looseObject({
    inputs: z.record(string, z.looseObject({ default: string.optional() })),
    runs: z.strictObject({
      using: z.literal('composite'),
      steps: z.array(
        z.strictObject({
          id: string.optional(),
          if: string.optional(),
          shell: z.literal('bash'),
          env: z.record(string, string).default({}),
          run: string,
        }),
      ),
    }),
  })
  .parse(parse(await readFile(path.join(folder, 'action.yml'), 'utf8')));

/** The job of the documents. */
export const workflow = z
  .looseObject({
    on: z.record(z.string(), z.unknown()),
    jobs: z.object({ plan: z.looseObject({ if: z.string() }) }),
  })
  .parse(
    parse(/^```yaml\n(name: dns\n.*?)^```/ms.exec(await readFile('.github/docs/ci.md', 'utf8'))?.[1] ?? ''),
  );

export interface Comment {
  readonly id: number;
  body: string;
  readonly user: { readonly type: string; readonly login: string };
}

export const bot = { type: 'Bot', login: 'github-actions[bot]' };
export const anna = { type: 'User', login: 'anna' };

/** The comments of pull request 7, 100 a page. Each token may change its own. */
export const startGitHub = async (comments: Comment[] = []) => {
  const server = await scriptedServer((response, { method, path: address, query, headers, body }) => {
    const answer = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const user = { 'Bearer the-github-token': bot, 'Bearer token-of-anna': anna }[
      headers['authorization'] ?? ''
    ];
    if (user === undefined) return answer(401, { message: 'Bad credentials' });
    if (address === '/user')
      return user === bot ? answer(403, { message: 'Resource not accessible' }) : answer(200, user);
    const [, id] = /\/repos\/acme\/dns\/issues\/comments\/(\d+)$/.exec(address) ?? [];
    const asked = comments.find((one) => String(one.id) === id);
    if (method === 'PATCH' && asked) {
      if (asked.user.login !== user.login) return answer(403, { message: 'Forbidden' });
      asked.body = JSON.parse(body).body;
      return answer(200, asked);
    }
    if (!address.endsWith('/repos/acme/dns/issues/7/comments')) return answer(404, { message: 'Not Found' });
    if (method === 'POST') {
      const made = { id: comments.length + 1, body: JSON.parse(body).body, user };
      comments.push(made);
      return answer(201, made);
    }
    const page = Number(new URLSearchParams(query).get('page'));
    return answer(200, comments.slice((page - 1) * 100, page * 100));
  });
  return { url: new URL(server.url).origin, comments };
};

export type GitHub = Awaited<ReturnType<typeof startGitHub>>;

export interface ActionJob {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** What starts it; default: the trigger of the documents. */
  readonly event?: string;
}

/** Runs the steps as a runner does: expressions replaced, a failed step ends the job but for `always()`. */
export const runAction = async (
  { cwd, head, clone }: PullRequest,
  github: GitHub,
  {
    inputs = {},
    env = {},
    event = 'pull_request_target' in workflow.on ? 'pull_request_target' : 'pull_request',
  }: ActionJob = {},
) => {
  const isRequest = event !== 'schedule';
  const job = path.join(cwd, `job-${String(Math.random()).slice(2)}`);
  const [workspace, output] = [path.join(job, 'workspace'), path.join(job, 'output')];
  await mkdir(path.join(job, 'temp'), { recursive: true });
  await clone(event === 'pull_request' ? 'request' : 'main', workspace);
  await writeFile(output, '');
  const values: Record<string, string> = {
    'github.token': 'the-github-token',
    'github.event_name': event,
    'github.event.number': isRequest ? '7' : '',
    'github.event.pull_request.number': isRequest ? '7' : '',
    'github.event.pull_request.head.sha': isRequest ? head : '',
  };
  const given: Readonly<Record<string, string>> = { image: 'image', ...inputs };
  for (const [name, { default: usual = '' }] of Object.entries(action.inputs))
    values[`inputs.${name}`] = given[name] ?? usual.replace('${{ github.token }}', 'the-github-token');
  const filled = (text: string): string =>
    text.replaceAll(/\$\{\{ ([\w.-]+) \}\}/g, (_, name: string) => values[name] ?? `unknown ${name}`);
  const context = {
    PATH: `${path.join(cwd, 'bin')}:${process.env['PATH']}`,
    HOME: cwd,
    RUNNER_TEMP: path.join(job, 'temp'),
    GITHUB_WORKSPACE: workspace,
    GITHUB_BASE_REF: isRequest ? 'main' : '',
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: 'acme/dns',
    GITHUB_STEP_SUMMARY: path.join(job, 'summary.md'),
    GITHUB_ACTION_PATH: folder,
    GITHUB_OUTPUT: output,
  };
  let [failed, log] = [false, ''];
  for (const step of action.runs.steps) {
    const condition = (step.if ?? 'true')
      .replace('always()', 'true')
      .replaceAll(/([\w.-]+) ([!=])= '(\w*)'/g, (_, name: string, sign: string, text: string) =>
        String(((values[name] ?? '') === text) === (sign === '=')),
      );
    expect(condition).toMatch(/^(true|false)( && (true|false))*$/);
    if (condition.includes('false') || (failed && step.if?.includes('always()') !== true)) continue;
    const own = Object.fromEntries(Object.entries(step.env).map(([name, value]) => [name, filled(value)]));
    const shell = ['bash', '--noprofile', '--norc', '-eo', 'pipefail'] as const;
    const ran = await runScript(shell, filled(step.run), workspace, { ...context, ...env, ...own });
    failed ||= ran.code !== 0;
    log += ran.log;
    for (const [, name, value] of (await readFile(output, 'utf8')).matchAll(/^(\w+)=(.*)$/gm))
      values[`steps.plan.outputs.${name}`] = value ?? '';
  }
  /** `commands` is what the log tells the runner to do. */
  return { failed, code: values['steps.plan.outputs.code'] ?? '', log, commands: commandsIn(log) };
};

/** Both forms that a runner takes: at the beginning of a line, and anywhere in it. */
const commandsIn = (log: string): string[] =>
  log.split(/\r?\n/).flatMap((line) => {
    const [, first] = /^\s*::([a-z-]+)(?: .*?)?::/i.exec(line) ?? [];
    const [, second] = /##\[([a-z-]+)/i.exec(line) ?? [];
    return first ?? second ?? [];
  });
