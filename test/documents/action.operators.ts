import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing } from '../daemon/daemon.ts';
import { action, anna, bot, runAction, startGitHub, type ActionJob, type Comment } from './github.ts';
import { openPullRequest, shown } from './pull-request.ts';
import { startService, userToken } from '../service.ts';

const tokens = { DNS_SYNC_USER_TOKEN: userToken, DNS_SYNC_CLIENT_TOKEN: 'client-token' };
const bert = { type: 'User', login: 'bert' };
const other = { type: 'Bot', login: 'another[bot]' };
const ownMarker = '<!-- dns-template-sync plan dns-template-sync.yaml -->';
const commentOf = (id: number, user: Comment['user'], body = `${ownMarker}\nold`): Comment => ({
  id,
  body,
  user,
});

/** A base branch that is in sync, and a request that changes its address. */
const prepared = async (address: string, comments: Comment[] = []) => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const base = {
    'dns-template-sync.yaml': `baseUrl: ${service.url}\n`,
    'templates/site.yaml': describing('site', '192.0.2.1'),
  };
  const request = await openPullRequest(base, { 'templates/site.yaml': describing('site', address) });
  const github = await startGitHub(comments);
  const job = (more: ActionJob = {}) => runAction(request, github, { env: tokens, ...more });
  return { request, service, job, comments };
};

describe('the action', () => {
  it('adds one comment, and updates it at the next run', async () => {
    const { job, comments, service } = await prepared('192.0.2.2');
    expect(await job()).toMatchObject({ failed: false, code: '2', commands: [] });
    await service.change('edit-record', { record_id: 2002, content: '192.0.2.2' });
    expect(await job()).toMatchObject({ failed: false, code: '0' });
    expect(comments).toHaveLength(1);
    expect(comments[0]?.body).toMatch(/^<!-- dns-template-sync plan dns-template-sync.yaml -->\n### /);
    expect(comments[0]?.body).toContain('in sync');
    expect(service.writes()).toEqual([]);
  });

  it('plans the base branch on a schedule, and comments on nothing', async () => {
    const { job, comments, service } = await prepared('192.0.2.2');
    const inputs = { 'fail-on-drift': 'true' };
    expect(await job({ event: 'schedule', inputs })).toMatchObject({ failed: false, code: '0' });
    await service.change('edit-record', { record_id: 2002, content: '192.0.2.7' });
    expect(await job({ event: 'schedule', inputs })).toMatchObject({ failed: true, code: '2' });
    expect(comments).toEqual([]);
  });

  it('finds its comment behind many others, and takes no other one for its own', async () => {
    const others = Array.from({ length: 150 }, (_, id) => commentOf(id, bert, 'hello'));
    const { job, comments } = await prepared(
      '192.0.2.1',
      others.with(3, commentOf(3, bert)).with(140, commentOf(140, bot)),
    );
    expect(await job()).toMatchObject({ failed: false, code: '0' });
    expect(comments).toHaveLength(150);
    expect([3, 140].map((at) => comments[at]?.body.includes('old'))).toEqual([true, false]);
  });

  it.each([
    ['a person', 'token-of-anna', anna],
    ['a bot', 'the-github-token', bot],
  ])('with the token of %s takes only the comment that this one may change', async (_, token, user) => {
    const { job, comments } = await prepared('192.0.2.1', [commentOf(1, bert), commentOf(2, other)]);
    for (let push = 0; push < 2; push += 1)
      expect(await job({ inputs: { 'github-token': token } })).toMatchObject({ failed: false });
    expect(comments.map(({ user: by }) => by)).toEqual([bert, other, user]);
    expect(comments.map(({ body }) => body.endsWith('old'))).toEqual([true, true, false]);
  });

  it('keeps a comment for each of its uses', async () => {
    const { job, comments } = await prepared('192.0.2.2');
    for (const name of ['', 'staging', '', 'a --> b'])
      expect(await job({ inputs: { name } })).toMatchObject({ failed: false });
    expect(comments.map(({ body }) => body.split('\n')[0])).toEqual([
      ownMarker,
      '<!-- dns-template-sync plan staging -->',
      '<!-- dns-template-sync plan a%20--%3E%20b -->',
    ]);
  });

  it('fails on drift if it is told to, and always on an error, which comment and annotation show', async () => {
    const drifted = await prepared('192.0.2.2');
    expect(await drifted.job({ inputs: { 'fail-on-drift': 'true' } })).toMatchObject({
      failed: true,
      code: '2',
    });
    const { job, comments } = await prepared('not-an-address');
    const { failed, code, log, commands } = await job();
    expect({ failed, code, commands }).toEqual({ failed: true, code: '1', commands: ['error'] });
    expect(log).toMatch(/^::error file=templates\/site\.yaml,line=3,col=\d+,title=bad-ipv4::/m);
    expect(comments).toHaveLength(1);
    expect(shown(comments[0]?.body ?? '')).toContain('not-an-address');
  });

  it('waits for the merge of the request, and says that there is none', async () => {
    const { request, job, comments } = await prepared('192.0.2.2');
    await writeBelow(request.cwd, 'bin/sleep', '#!/bin/sh\necho "slept $1"\n');
    await chmod(path.join(request.cwd, 'bin/sleep'), 0o755);
    const outdated = { ...request, head: '0'.repeat(40) };
    const github = await startGitHub(comments);
    const { failed, log } = await runAction(outdated, github, { env: tokens });
    expect(failed).toBe(true);
    expect(log).toContain('::error::GitHub has no merge of this pull request');
    expect(log.match(/slept 3/g)).toHaveLength(9);
    expect(comments).toEqual([]);
    expect(await job()).toMatchObject({ failed: false });
  });

  it('gives the program a token as the file that the settings name', async () => {
    const { request, service } = await prepared('192.0.2.1');
    const place = path.join(request.cwd, 'run/secrets/acme');
    const settings = `baseUrl: ${service.url}\nuserToken: {env: USER_TOKEN}\nclientToken: {file: ${place}}\n`;
    const files = {
      'dns-template-sync.yaml': settings,
      'templates/site.yaml': describing('site', '192.0.2.1'),
    };
    const { clone, head } = await openPullRequest(files, {});
    const run = await runAction({ ...request, clone, head }, await startGitHub(), {
      inputs: { tokens: `USER_TOKEN ACME_TOKEN=${place}` },
      env: { USER_TOKEN: userToken, ACME_TOKEN: 'token of acme' },
    });
    expect(run).toMatchObject({ failed: false, code: '0' });
    const sent = service.seen.map(({ headers, query, body }) => JSON.stringify([headers, query, body]));
    expect(sent).toContainEqual(expect.stringContaining('token+of+acme'));
  });

  it('is called by the documents with inputs that it has', async () => {
    const page = await readFile('.github/docs/ci.md', 'utf8');
    const [, given = ''] = /uses: \.\/\.github\/actions\/plan\n +with:\n((?: {10}.*\n)+)/.exec(page) ?? [];
    const names = Object.keys(z.record(z.string(), z.unknown()).parse(parse(given)));
    expect(names).toContain('image');
    for (const name of names) expect(Object.keys(action.inputs)).toContain(name);
  });
});
