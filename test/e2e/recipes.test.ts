import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing } from './daemon.ts';
import { standInForDocker } from './docker.ts';
import { workplace } from './program.ts';
import { startService, userToken } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const page = await readFile('.github/docs/ci.md', 'utf8');
const [github, gitlab] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, block = '']): unknown =>
  parse(block),
);

const workflow = z
  .object({
    jobs: z.object({
      plan: z.looseObject({ if: z.string() }),
    }),
  })
  .parse(github).jobs.plan;
const action = z
  .object({ runs: z.object({ steps: z.tuple([z.object({ run: z.string() })]).rest(z.unknown()) }) })
  .parse(parse(await readFile('.github/actions/plan/action.yml', 'utf8')));
const job = z.object({ script: z.array(z.string()) });
const merge = z.object({ 'dns-settings': job, 'dns-plan': job }).parse(gitlab);

/** The commands that make `plan.md`, as the runners of the two services give them to a shell. */
const recipes = {
  'GitHub Actions': action.runs.steps[0].run,
  'GitLab CI': [...merge['dns-settings'].script, ...merge['dns-plan'].script]
    .join('\n')
    .replace('node /app/dist/main.js', `"${process.execPath}" "${built('main.js')}"`),
};

/** A checkout of a pull request: the files of the base branch, and what the request makes of them. */
const checkout = async (base: Files, request: Files) => {
  const cwd = await workplace({ withExamples: false });
  const [origin, clone] = [path.join(cwd, 'origin'), path.join(cwd, 'clone')];
  await mkdir(origin);
  const git = (...args: readonly string[]): Promise<unknown> =>
    promisify(execFile)('git', [
      '-C',
      origin,
      '-c',
      'user.name=a',
      '-c',
      'user.email=a@example.net',
      ...args,
    ]);
  const commit = async (files: Files): Promise<void> => {
    for (const [file, text] of Object.entries(files))
      await (text === null ? rm(path.join(origin, file)) : writeBelow(origin, file, text));
    await git('add', '--all');
    await git('commit', '--quiet', '--message', 'change');
  };
  await git('init', '--quiet', '--initial-branch', 'main');
  await commit(base);
  await git('checkout', '--quiet', '-b', 'request');
  await commit(request);
  await git('clone', '--quiet', '--depth=1', '--branch', 'request', `file://${origin}`, clone);
  await standInForDocker(cwd);
  return { cwd, clone };
};

type Files = Readonly<Record<string, string | null>>;

const runRecipe = async (
  script: string,
  { cwd, clone }: { readonly cwd: string; readonly clone: string },
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; plan: string }> => {
  const variables = {
    GITHUB_BASE_REF: 'main',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    IMAGE: 'image',
    GITHUB_OUTPUT: path.join(cwd, 'output'),
    GITHUB_STEP_SUMMARY: path.join(cwd, 'summary'),
    ...env,
  };
  const PATH = `${path.join(cwd, 'bin')}:${process.env['PATH']}`;
  await writeFile(path.join(cwd, 'script'), script);
  const code = await promisify(execFile)('bash', ['-e', path.join(cwd, 'script')], {
    cwd: clone,
    env: { PATH, HOME: cwd, ...variables },
  }).then(
    () => 0,
    ({ code: failed }: { code: number }) => failed,
  );
  const plan = await readFile(path.join(clone, 'plan.md'), 'utf8');
  return { code, plan: plan.replaceAll(/&#(\d+);/g, (_, point) => String.fromCodePoint(Number(point))) };
};

describe.each(Object.entries(recipes))('the recipe for %s', (_, script) => {
  it('plans the templates of a request under the settings of the base branch', async () => {
    const service = await startService();
    await addTemplate(service, 'site', '192.0.2.1');
    const settings = `baseUrl: ${service.url}\nvars: {address: 192.0.2.1}\nmode: report\n`;
    const place = await checkout(
      { 'dns-template-sync.yaml': settings, 'templates/site.yaml': describing('site', '"${address}"') },
      {
        'dns-template-sync.yaml': 'baseUrl: http://127.0.0.1:1/api/v1\nuserToken: {env: HOME}\n',
        'templates/site.yaml': `${describing('site', '"${address}"')}  - {type: A, name: www, content: 192.0.2.9}\n`,
      },
    );
    const { code, plan } = await runRecipe(script, place, {
      SETTINGS: 'dns-template-sync.yaml',
      TOKENS: 'DNS_SYNC_USER_TOKEN DNS_SYNC_CLIENT_TOKEN',
      DNS_SYNC_USER_TOKEN: userToken,
      DNS_SYNC_CLIENT_TOKEN: 'client-token',
    });
    expect(plan).toContain('192.0.2.9');
    expect(plan).not.toContain('192.0.2.1');
    expect(plan).toContain('report');
    expect(code).toBe(0);
  });

  it('does so for several clients, and takes no client that the request adds', async () => {
    const service = await startService();
    const client = (name: string): string =>
      `clientToken: {env: ${name.toUpperCase()}_TOKEN}\ntemplates: ../templates/${name}\n`;
    for (const name of ['acme', 'bakery']) await addTemplate(service, name, '192.0.2.1');
    const place = await checkout(
      {
        'dns-template-sync.yaml': `baseUrl: ${service.url}\nuserToken: {env: USER_TOKEN}\nclients: ./clients/*.yaml\n`,
        'clients/acme.yaml': client('acme'),
        'clients/bakery.yaml': client('bakery'),
        'templates/acme/a.yaml': describing('acme', '192.0.2.1'),
        'templates/bakery/b.yaml': describing('bakery', '192.0.2.1'),
      },
      {
        'clients/evil.yaml': 'baseUrl: http://127.0.0.1:1/api/v1\nclientToken: {env: ACME_TOKEN}\n',
        'templates/bakery/b.yaml': describing('bakery', '192.0.2.2'),
      },
    );
    const { code, plan } = await runRecipe(script, place, {
      SETTINGS: 'dns-template-sync.yaml clients',
      TOKENS: 'USER_TOKEN ACME_TOKEN BAKERY_TOKEN',
      USER_TOKEN: userToken,
      ACME_TOKEN: 'acme-token',
      BAKERY_TOKEN: 'bakery-token',
    });
    expect(plan).toContain('bakery: bakery');
    expect(plan).toContain('192.0.2.2');
    expect(plan).not.toContain('evil');
    expect(code).toBe(0);
  });

  it('puts what is wrong with the settings into the comment', async () => {
    const place = await checkout(
      {
        'dns-template-sync.yaml': 'mode: sometimes\n',
        'templates/site.yaml': describing('site', '192.0.2.1'),
      },
      { 'templates/site.yaml': describing('site', '192.0.2.2') },
    );
    const { code, plan } = await runRecipe(script, place, {
      SETTINGS: 'dns-template-sync.yaml',
      TOKENS: 'HOME',
    });
    expect(plan).toContain('### dns-template-sync: 1 error');
    expect(plan).toContain('mode: expected one of enforce, edits, report');
    expect(code).toBe(1);
  });
});

it('recipes skip requests that get no tokens', () => {
  expect(workflow.if).toContain('head.repo.full_name == github.repository');
  expect(JSON.stringify(gitlab)).toContain('$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID');
});
