import { cp, mkdir, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { built } from '../built.ts';
import { scriptedServer } from '../wire/scripted-server.ts';
import { runScript, type PullRequest } from './pull-request.ts';

const variables = z.record(z.string(), z.string()).default({});
const job = z.looseObject({
  stage: z.string(),
  when: z.string().optional(),
  image: z.object({ name: z.string() }),
  variables,
  script: z.array(z.string()),
  artifacts: z.object({ when: z.string().optional(), paths: z.array(z.string()) }).optional(),
});

/** The pipeline of the documents. */
export const pipeline = z
  .looseObject({ stages: z.array(z.string()), '.merge-request': z.looseObject({ variables }) })
  .parse(
    parse(/^```yaml\n(stages: .*?)^```/ms.exec(await readFile('.github/docs/ci.md', 'utf8'))?.[1] ?? ''),
  );

const jobs = Object.entries(pipeline)
  .filter(([, value]) => z.looseObject({ extends: z.literal('.merge-request') }).safeParse(value).success)
  .map(([name, value]) => [name, job.parse(value)] as const)
  .sort(([, one], [, other]) => pipeline.stages.indexOf(one.stage) - pipeline.stages.indexOf(other.stage));

/** The notes of merge request 7. */
export const startGitLab = async () => {
  const notes: string[] = [];
  const server = await scriptedServer((response, { method, path: address, headers, body }) => {
    const isKnown = headers['private-token'] === 'the-comment-token';
    const isTaken = isKnown && method === 'POST' && address === '/projects/1/merge_requests/7/notes';
    if (isTaken) notes.push(new URLSearchParams(body).get('body') ?? '');
    response.writeHead(isTaken ? 201 : isKnown ? 404 : 401, { 'content-type': 'application/json' }).end('{}');
  });
  return { url: new URL(server.url).origin, notes };
};

/** Runs the jobs of a merge request, each in a directory of its own: with a checkout of it unless the job wants none. */
export const runPipeline = async (
  { cwd, url, clone }: PullRequest,
  gitlab: { readonly url: string },
  env: Readonly<Record<string, string>>,
  /** Jobs that cannot start. */
  broken: readonly string[] = [],
) => {
  const place = path.join(cwd, `pipeline-${String(Math.random()).slice(2)}`);
  const kept = path.join(place, 'artifacts');
  await mkdir(kept, { recursive: true });
  let [failed, log] = [false, ''];
  for (const [name, { when, variables: own, script, artifacts }] of jobs) {
    if (failed && when !== 'always') continue;
    failed ||= broken.includes(name);
    if (broken.includes(name)) continue;
    const folder = path.join(place, name);
    const context: Readonly<Record<string, string>> = {
      HOME: cwd,
      CI_PROJECT_DIR: folder,
      CI_PIPELINE_ID: '4711',
      CI_PROJECT_ID: '1',
      CI_API_V4_URL: gitlab.url,
      CI_REPOSITORY_URL: url,
      CI_MERGE_REQUEST_IID: '7',
      CI_MERGE_REQUEST_REF_PATH: 'refs/merge-requests/7/head',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      COMMENT_TOKEN: 'the-comment-token',
      ...pipeline['.merge-request'].variables,
      ...own,
      ...env,
    };
    if (context['GIT_STRATEGY'] === 'none') await mkdir(folder);
    else await clone('request', folder);
    await cp(kept, folder, { recursive: true, verbatimSymlinks: true, force: true });
    const text = script.join('\n').replace('node /app/dist/main.js', `node "${built('main.js')}"`);
    const ran = await runScript(['sh', '-e'], text, folder, {
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      ...context,
    });
    failed ||= ran.code !== 0;
    log += ran.log;
    for (const one of (ran.code === 0 || artifacts?.when === 'always' ? artifacts?.paths : null) ?? []) {
      const file = one.replaceAll(/\$(\w+)/g, (_, variable: string) => context[variable] ?? '');
      if (existsSync(path.join(folder, file)))
        await cp(path.join(folder, file), path.join(kept, file), { recursive: true, verbatimSymlinks: true });
    }
  }
  return { failed, log };
};
