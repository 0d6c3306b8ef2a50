import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { json, scriptedServer } from '../wire/scripted-server.ts';
import { addTemplate, describing } from '../daemon/daemon.ts';
import { runAction, startGitHub, workflow } from './github.ts';
import { pipeline, runPipeline, startGitLab } from './gitlab.ts';
import { openPullRequest, shown, type Files, type PullRequest } from './pull-request.ts';
import { startService, userToken } from '../service.ts';

interface Job {
  readonly settings?: string;
  readonly templates?: string;
  /** The variables that hold tokens. */
  readonly tokens: Readonly<Record<string, string>>;
  /** Whether the image of the program cannot be had when the plan is to be made. */
  readonly isWithoutImage?: boolean;
}

interface Outcome {
  readonly failed: boolean;
  readonly comments: readonly string[];
  readonly log: string;
}

type Recipe = (request: PullRequest, job: Job) => Promise<Outcome>;

const recipes: Record<string, Recipe> = {
  'GitHub Actions': async (request, { tokens: env, isWithoutImage, ...places }) => {
    const github = await startGitHub();
    if (isWithoutImage) await writeBelow(request.cwd, 'bin/docker', '#!/bin/sh\nexit 125\n');
    const inputs = { tokens: Object.keys(env).join(' '), ...places };
    const { failed, log } = await runAction(request, github, { inputs, env });
    return { failed, log, comments: github.comments.map(({ body }) => shown(body)) };
  },
  'GitLab CI': async (request, { settings, templates, tokens: env, isWithoutImage }) => {
    const gitlab = await startGitLab();
    const variables = {
      ...(settings === undefined ? {} : { SETTINGS: settings }),
      ...(templates === undefined ? {} : { TEMPLATES: templates }),
      ...env,
    };
    const broken = isWithoutImage ? ['dns-plan'] : [];
    const { failed, log } = await runPipeline(request, gitlab, variables, broken);
    return { failed, log, comments: gitlab.notes.map(shown) };
  },
};

const secret = 'the secret of this job';
const main = 'dns-template-sync.yaml';
const site = describing('site', '192.0.2.1');
const www = '  - {type: A, name: www, content: 192.0.2.9}\n';

/** A base branch, what holds its tokens, and the service that it describes. */
interface Base {
  readonly files: Files;
  readonly job: Job;
  readonly service: Awaited<ReturnType<typeof startService>>;
}

const oneClient = async (): Promise<Base> => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const files = { [main]: `baseUrl: ${service.url}\n`, 'templates/site.yaml': site };
  return {
    files,
    service,
    job: { tokens: { DNS_SYNC_USER_TOKEN: userToken, DNS_SYNC_CLIENT_TOKEN: secret } },
  };
};

/** Two clients with a file each. */
const severalClients = async (): Promise<Base> => {
  const service = await startService();
  for (const name of ['acme', 'bakery']) await addTemplate(service, name, '192.0.2.1');
  const client = (name: string): string =>
    `clientToken: {env: ${name.toUpperCase()}_TOKEN}\ntemplates: ../templates/${name}\n`;
  const files = {
    [main]: `baseUrl: ${service.url}\nuserToken: {env: USER_TOKEN}\nclients: ./clients/*.yaml\n`,
    'clients/acme.yaml': client('acme'),
    'clients/bakery.yaml': client('bakery'),
    'templates/acme/a.yaml': describing('acme', '192.0.2.1'),
    'templates/bakery/b.yaml': describing('bakery', '192.0.2.1'),
  };
  const tokens = { USER_TOKEN: userToken, ACME_TOKEN: secret, BAKERY_TOKEN: 'bakery-token' };
  return { files, service, job: { settings: `${main} clients`, tokens } };
};

/** What a request does that wants tokens, or more than its own text in the comment; `thief` is where it wants them. */
interface Attack {
  readonly request: (thief: string) => Files;
  readonly base?: () => Promise<Base>;
  /** The job as somebody writes it who is careless, once for each. */
  readonly jobs?: readonly Partial<Job>[];
  /** What the one comment still says. */
  readonly says?: string;
  readonly fails?: boolean;
}

const environ = { link: '/proc/self/environ' };
const stolen = (thief: string, more = ''): string =>
  `baseUrl: ${thief}\nclientToken: {env: ACME_TOKEN}\n${more}`;
const withoutClients = { 'clients/acme.yaml': null, 'clients/bakery.yaml': null };
const hidden = '*.yaml export-ignore\n';

/** With the settings of others, where somebody also forgets to name all of the own ones. */
const ofOtherSettings = (request: Attack['request']): Attack => ({
  request,
  base: severalClients,
  jobs: [{ settings: main }, { settings: `${main} clients/acme.yaml clients/bakery.yaml` }],
});

const attacks: Readonly<Record<string, Attack>> = {
  'links in the places of what the recipe writes': {
    request: () => {
      const places = ['plan.md', 'plan-4711.md', 'dns', 'merged', 'output', 'step', 'summary.md', 'validate'];
      return {
        ...Object.fromEntries(places.map((name) => [name, environ])),
        'templates/site.yaml': site + www,
      };
    },
    says: '192.0.2.9',
    fails: false,
  },
  'a link in the place of a template, a fragment and a directory of templates': {
    request: () => ({
      'templates/leak.yaml': environ,
      'templates/_leak.yaml': environ,
      'templates/more.yaml': 'template: more\ninclude: [_leak.yaml]\nrecords: []\n',
      'templates/more': { link: '/proc/self' },
    }),
  },
  'a link in the place of all templates': { request: () => ({ templates: { link: '../../canary' } }) },
  'a link in the place of the settings': { request: () => ({ [main]: environ }) },
  'settings in the place of those': ofOtherSettings((thief) => ({
    [main]: stolen(thief, 'userToken: {env: USER_TOKEN}\n'),
  })),
  'settings in the file of a client': ofOtherSettings((thief) => ({
    'clients/acme.yaml': stolen(thief, 'templates: ../templates/acme\n'),
  })),
  'settings among the templates': ofOtherSettings((thief) => ({
    [`templates/${main}`]: `baseUrl: ${thief}\n`,
    [`templates/acme/${main}`]: `baseUrl: ${thief}\n`,
  })),
  'settings in a directory that is a link': ofOtherSettings((thief) => ({
    ...withoutClients,
    clients: { link: 'templates/acme' },
    'templates/acme/acme.yaml': stolen(thief),
  })),
  'settings in a directory outside': ofOtherSettings(() => ({
    ...withoutClients,
    clients: { link: '../../canary' },
  })),
  'settings where templates may be, as the job names that directory for both': {
    request: (thief) => ({ 'clients/acme.yaml': stolen(thief) }),
    base: severalClients,
    jobs: [{ templates: 'templates clients' }],
    says: 'in sync',
  },
  'attributes of Git that hide what it changes': {
    request: () => ({
      '.gitattributes': hidden,
      'templates/.gitattributes': hidden,
      'templates/site.yaml': site + www,
    }),
    says: '192.0.2.9',
  },
};

describe.each(Object.entries(recipes))('the recipe for %s', (_, recipe) => {
  it('plans the templates of a request under the settings of the base branch', async () => {
    const { service, files, job } = await oneClient();
    const text = describing('site', '"${address}"');
    const request = await openPullRequest(
      {
        ...files,
        [main]: `baseUrl: ${service.url}\nvars: {address: 192.0.2.1}\nmode: report\n`,
        'templates/site.yaml': text,
      },
      {
        [main]: 'baseUrl: http://127.0.0.1:1/api/v1\nuserToken: {env: HOME}\n',
        'templates/site.yaml': text + www,
      },
    );
    const { failed, comments } = await recipe(request, job);
    expect(comments).toEqual([expect.stringContaining('192.0.2.9')]);
    expect(comments[0]).not.toContain('192.0.2.1');
    expect(comments[0]).toContain('report');
    expect(failed).toBe(false);
    expect(service.writes()).toEqual([]);
  });

  it('plans the first templates of a repository', async () => {
    const { files, job } = await oneClient();
    const request = await openPullRequest({ [main]: files[main]! }, { 'templates/site.yaml': site + www });
    const { failed, comments } = await recipe(request, job);
    expect(comments).toEqual([expect.stringMatching(/1 to add/)]);
    expect(failed).toBe(false);
  });

  it('shows a rename as the daemon will make it', async () => {
    const { service, files, job } = await oneClient();
    const before = `template: site\nsurplus: park\nrecords:\n  - {type: A, content: 192.0.2.1}\n`;
    const added = { dns_template_id: 2001, type: 'A', name: 'www', content: '192.0.2.9' };
    await service.change('add-record', added);
    const request = await openPullRequest(
      { ...files, 'templates/site.yaml': before + www },
      { 'templates/site.yaml': before + www.replace('www', 'web') },
    );
    const { comments } = await recipe(request, job);
    expect(comments[0]).toMatch(/1 to change[^]*www.*→.*web/);
    expect(comments[0]).not.toMatch(/to add|surplus/);
  });

  it('does so for several clients, and takes no client that the request adds', async () => {
    const { files, job } = await severalClients();
    const request = await openPullRequest(files, {
      'clients/evil.yaml': 'baseUrl: http://127.0.0.1:1/api/v1\nclientToken: {env: ACME_TOKEN}\n',
      'templates/bakery/b.yaml': describing('bakery', '192.0.2.2'),
    });
    const { failed, comments } = await recipe(request, job);
    expect(comments).toEqual([expect.stringMatching(/bakery: bakery[^]*192\.0\.2\.2/)]);
    expect(comments[0]).not.toContain('evil');
    expect(failed).toBe(false);
  });

  it('puts each problem of the settings into a line of the comment', async () => {
    const { files, job } = await oneClient();
    const request = await openPullRequest(
      { ...files, [main]: 'mode: sometimes\nconcurrency: none\n' },
      { 'templates/site.yaml': describing('site', '192.0.2.2') },
    );
    const { failed, comments } = await recipe(request, job);
    expect(comments).toEqual([expect.stringMatching(/^### dns-template-sync: .*(?:failed|\d errors)/m)]);
    expect(comments[0]).toMatch(/^- .*mode: expected one of enforce, edits, report/m);
    expect(comments[0]).toMatch(/^- .*concurrency: /m);
    expect(failed).toBe(true);
  });

  it('says that a request adds the settings, and plans nothing', async () => {
    const { service, files, job } = await oneClient();
    const { [main]: settings = '', ...others } = files;
    const { failed, comments, log } = await recipe(await openPullRequest(others, { [main]: settings }), job);
    expect(comments).toEqual([expect.stringContaining(`adds the settings, \`${main}\``)]);
    expect(failed).toBe(false);
    expect(log).not.toContain('ENOENT');
    expect(service.seen).toEqual([]);
  });

  it('has a comment only for a plan of its own', async () => {
    const { files, job } = await oneClient();
    const forged = { 'plan.md': 'forged', 'plan-4711.md': 'forged', 'dns/plan.md': 'forged' };
    const request = await openPullRequest({ ...files, ...forged }, { 'templates/site.yaml': null });
    const { failed, comments } = await recipe(request, { ...job, isWithoutImage: true });
    expect({ failed, comments }).toEqual({ failed: true, comments: [] });
  });

  /** In the comment and in the log there is no secret; and the thief got nothing. */
  const harmless = async (base: Files, attack: Attack['request'], job: Job): Promise<Outcome> => {
    const thief = await scriptedServer(json([]));
    const request = await openPullRequest(base, attack(thief.url));
    const canary = path.join(request.cwd, 'canary');
    await mkdir(canary);
    await writeBelow(canary, 'acme.yaml', 'alive');
    const outcome = await recipe(request, job);
    expect(thief.seen).toEqual([]);
    expect(outcome.comments).toHaveLength(1);
    for (const one of [secret, encodeURIComponent(secret), userToken])
      expect([...outcome.comments, outcome.log].join('\n')).not.toContain(one);
    expect(await readdir(canary)).toEqual(['acme.yaml']);
    expect(await readFile(path.join(canary, 'acme.yaml'), 'utf8')).toBe('alive');
    return outcome;
  };

  it.each(Object.entries(attacks))(
    'is safe against a request that has %s',
    async (__, { request, base = oneClient, jobs = [{}], says = '', fails }) => {
      const { files, job } = await base();
      for (const more of jobs) {
        const { comments, failed } = await harmless(files, request, { ...job, ...more });
        expect(comments[0]).toContain(says);
        expect(comments[0]).not.toContain('proc');
        if (fails !== undefined) expect(failed).toBe(fails);
      }
    },
  );

  it('is safe against a request whose names are commands, lines and Markdown', async () => {
    const { files, job } = await oneClient();
    const name = '::set-output name=code::0 `@anna` **b** <b>##[set-output name=code]0';
    const text = (of: string, type: string): string =>
      `template: ${JSON.stringify(of)}\nrecords:\n  - {type: ${type}, content: ${JSON.stringify(name)}}\n`;
    const hostile = {
      [`templates/a\n::error file=x::forged\n.yaml`]: text(`${name}\n::warning::forged`, 'A'),
      'templates/`@anna`.yaml': text(name, 'TXT'),
    };
    const { comments, failed, log } = await harmless(files, () => hostile, job);
    expect(failed).toBe(true);
    for (const line of comments[0]!.split('\n')) expect(line).not.toMatch(/^::|forged$/);
    expect(log).not.toMatch(/^::(?!error file=templates)/m);
    expect(log).not.toContain('##[');
  });
});

it('recipes skip requests that get no tokens', () => {
  expect(workflow.jobs.plan.if).toContain('head.repo.full_name == github.repository');
  expect(JSON.stringify(pipeline)).toContain('$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID');
});
