import { mkdir, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeBelow } from '../daemon/ways.ts';
import { scriptedServer } from '../wire/scripted-server.ts';
import { addTemplate, describing } from '../e2e/daemon.ts';
import { runAction, startGitHub, workflow } from './github.ts';
import { pipeline, runPipeline, startGitLab } from './gitlab.ts';
import { openPullRequest, shown, type Files, type PullRequest } from './pull-request.ts';
import { startService, userToken } from '../e2e/service.ts';

vi.setConfig({ testTimeout: 60_000 });

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
  'GitHub Actions': async (request, { settings, templates, tokens, isWithoutImage }) => {
    const github = await startGitHub();
    if (isWithoutImage) await writeBelow(request.cwd, 'bin/docker', '#!/bin/sh\nexit 125\n');
    const inputs = {
      tokens: Object.keys(tokens).join(' '),
      ...(settings === undefined ? {} : { settings }),
      ...(templates === undefined ? {} : { templates }),
    };
    const { failed, log } = await runAction(request, github, { inputs, env: tokens });
    return { failed, log, comments: github.comments.map(({ body }) => shown(body)) };
  },
  'GitLab CI': async (request, { settings, templates, tokens, isWithoutImage }) => {
    const gitlab = await startGitLab();
    const variables = {
      ...(settings === undefined ? {} : { SETTINGS: settings }),
      ...(templates === undefined ? {} : { TEMPLATES: templates }),
    };
    const { failed, log } = await runPipeline(
      request,
      gitlab,
      { ...variables, ...tokens },
      isWithoutImage ? ['dns-plan'] : [],
    );
    return { failed, log, comments: gitlab.notes.map(shown) };
  },
};

const main = 'dns-template-sync.yaml';
const secret = 'the secret of this job';
const tokens = { DNS_SYNC_USER_TOKEN: userToken, DNS_SYNC_CLIENT_TOKEN: secret };
const www = '  - {type: A, name: www, content: 192.0.2.9}\n';

/** A service with a template, and a base branch that describes it. */
const described = async () => {
  const service = await startService();
  await addTemplate(service, 'site', '192.0.2.1');
  const base: Files = {
    'dns-template-sync.yaml': `baseUrl: ${service.url}\n`,
    'templates/site.yaml': describing('site', '192.0.2.1'),
  };
  return { service, base };
};

/** Two clients with a file each. */
const severalClients = async () => {
  const service = await startService();
  for (const name of ['acme', 'bakery']) await addTemplate(service, name, '192.0.2.1');
  const client = (name: string): string =>
    `clientToken: {env: ${name.toUpperCase()}_TOKEN}\ntemplates: ../templates/${name}\n`;
  const base: Files = {
    'dns-template-sync.yaml': `baseUrl: ${service.url}\nuserToken: {env: USER_TOKEN}\nclients: ./clients/*.yaml\n`,
    'clients/acme.yaml': client('acme'),
    'clients/bakery.yaml': client('bakery'),
    'templates/acme/a.yaml': describing('acme', '192.0.2.1'),
    'templates/bakery/b.yaml': describing('bakery', '192.0.2.1'),
  };
  const own = { USER_TOKEN: userToken, ACME_TOKEN: secret, BAKERY_TOKEN: 'bakery-token' };
  return { service, base, own };
};

/** Where nothing is to be sent. */
const startThief = () => scriptedServer((response) => void response.writeHead(200).end('[]'));

describe.each(Object.entries(recipes))('the recipe for %s', (_, recipe) => {
  it('plans the templates of a request under the settings of the base branch', async () => {
    const { service, base } = await described();
    const text = describing('site', '"${address}"');
    const request = await openPullRequest(
      {
        ...base,
        'dns-template-sync.yaml': `baseUrl: ${service.url}\nvars: {address: 192.0.2.1}\nmode: report\n`,
        'templates/site.yaml': text,
      },
      {
        'dns-template-sync.yaml': 'baseUrl: http://127.0.0.1:1/api/v1\nuserToken: {env: HOME}\n',
        'templates/site.yaml': text + www,
      },
    );
    const { failed, comments } = await recipe(request, { tokens });
    expect(comments).toEqual([expect.stringContaining('192.0.2.9')]);
    expect(comments[0]).not.toContain('192.0.2.1');
    expect(comments[0]).toContain('report');
    expect(failed).toBe(false);
    expect(service.writes()).toEqual([]);
  });

  it('shows a rename as the daemon will make it', async () => {
    const { service, base } = await described();
    const before = `template: site\nsurplus: park\nrecords:\n  - {type: A, content: 192.0.2.1}\n`;
    await service.change('add-record', {
      dns_template_id: 2001,
      type: 'A',
      name: 'www',
      content: '192.0.2.9',
    });
    const request = await openPullRequest(
      { ...base, 'templates/site.yaml': before + www },
      { 'templates/site.yaml': before + www.replace('www', 'web') },
    );
    const { comments } = await recipe(request, { tokens });
    expect(comments[0]).toContain('1 to change');
    expect(comments[0]).not.toMatch(/to add|surplus/);
    expect(comments[0]).toMatch(/www.*→.*web/);
  });

  it('does so for several clients, and takes no client that the request adds', async () => {
    const { base, own } = await severalClients();
    const request = await openPullRequest(base, {
      'clients/evil.yaml': 'baseUrl: http://127.0.0.1:1/api/v1\nclientToken: {env: ACME_TOKEN}\n',
      'templates/bakery/b.yaml': describing('bakery', '192.0.2.2'),
    });
    const { failed, comments } = await recipe(request, {
      settings: 'dns-template-sync.yaml clients',
      tokens: own,
    });
    expect(comments).toEqual([expect.stringContaining('bakery: bakery')]);
    expect(comments[0]).toContain('192.0.2.2');
    expect(comments[0]).not.toContain('evil');
    expect(failed).toBe(false);
  });

  it('puts each problem of the settings into a line of the comment', async () => {
    const { base } = await described();
    const request = await openPullRequest(
      { ...base, 'dns-template-sync.yaml': 'mode: sometimes\nconcurrency: none\n' },
      { 'templates/site.yaml': describing('site', '192.0.2.2') },
    );
    const { failed, comments } = await recipe(request, { tokens });
    expect(comments).toEqual([expect.stringMatching(/^### dns-template-sync: .*(?:failed|\d errors)/m)]);
    expect(comments[0]).toMatch(/^- .*mode: expected one of enforce, edits, report/m);
    expect(comments[0]).toMatch(/^- .*concurrency: /m);
    expect(failed).toBe(true);
  });

  it('says that a request adds the settings, and plans nothing', async () => {
    const { service, base } = await described();
    const { 'dns-template-sync.yaml': settings = '', ...others } = base;
    const request = await openPullRequest(others, { 'dns-template-sync.yaml': settings });
    const { failed, comments, log } = await recipe(request, { tokens });
    expect(comments).toEqual([expect.stringContaining('adds the settings, `dns-template-sync.yaml`')]);
    expect(failed).toBe(false);
    expect(log).not.toContain('ENOENT');
    expect(service.seen).toEqual([]);
  });

  it('has a comment only for a plan of its own', async () => {
    const { base } = await described();
    const request = await openPullRequest(
      { ...base, 'plan.md': 'forged', 'plan-4711.md': 'forged', 'dns/plan.md': 'forged' },
      { 'templates/site.yaml': null },
    );
    const { failed, comments } = await recipe(request, { tokens, isWithoutImage: true });
    expect({ failed, comments }).toEqual({ failed: true, comments: [] });
  });

  describe('is safe against a request', () => {
    /** In the comment and in the log there is no secret; and the thief got nothing. */
    const harmless = async (base: Files, hostile: (thief: string) => Files, job: Job): Promise<Outcome> => {
      const thief = await startThief();
      const request = await openPullRequest(base, hostile(thief.url));
      await mkdir(path.join(request.cwd, 'canary'));
      await writeBelow(request.cwd, 'canary/acme.yaml', 'alive');
      const outcome = await recipe(request, job);
      expect(thief.seen).toEqual([]);
      for (const one of [secret, encodeURIComponent(secret), userToken])
        expect([...outcome.comments, outcome.log].join('\n')).not.toContain(one);
      expect(await readFile(path.join(request.cwd, 'canary/acme.yaml'), 'utf8')).toBe('alive');
      expect(await readdir(path.join(request.cwd, 'canary'))).toEqual(['acme.yaml']);
      return outcome;
    };

    const environ = { link: '/proc/self/environ' };

    it('that has links in the places of what the recipe writes', async () => {
      const { base } = await described();
      const places = ['plan.md', 'plan-4711.md', 'dns', 'merged', 'output', 'step', 'summary.md', 'validate'];
      const changed = { 'templates/site.yaml': describing('site', '192.0.2.1') + www };
      const links = Object.fromEntries(places.map((name) => [name, environ]));
      const { failed, comments } = await harmless(base, () => ({ ...links, ...changed }), { tokens });
      expect(failed).toBe(false);
      expect(comments).toEqual([expect.stringContaining('192.0.2.9')]);
    });

    it.each<[string, (thief: string) => Files]>([
      [
        'a template, a fragment and a directory of templates',
        () => ({
          'templates/leak.yaml': environ,
          'templates/_leak.yaml': environ,
          'templates/more.yaml': 'template: more\ninclude: [_leak.yaml]\nrecords: []\n',
          'templates/more': { link: '/proc/self' },
        }),
      ],
      ['all templates', () => ({ templates: { link: '../../canary' } })],
      ['the settings', () => ({ 'dns-template-sync.yaml': environ })],
    ])('that has a link in the place of %s', async (__, hostile) => {
      const { base } = await described();
      const { comments } = await harmless(base, hostile, { tokens });
      expect(comments).toHaveLength(1);
      expect(comments[0]).not.toContain('proc');
    });

    it.each<[string, (thief: string) => Files]>([
      [
        'in the place of the settings',
        (thief) => ({
          'dns-template-sync.yaml': `baseUrl: ${thief}\nuserToken: {env: USER_TOKEN}\nclientToken: {env: ACME_TOKEN}\n`,
        }),
      ],
      [
        'in the file of a client',
        (thief) => ({
          'clients/acme.yaml': `baseUrl: ${thief}\nclientToken: {env: ACME_TOKEN}\ntemplates: ../templates/acme\n`,
        }),
      ],
      [
        'among the templates',
        (thief) => ({
          'templates/dns-template-sync.yaml': `baseUrl: ${thief}\n`,
          'templates/acme/dns-template-sync.yaml': `baseUrl: ${thief}\n`,
        }),
      ],
      [
        'in a directory that is a link',
        (thief) => ({
          'clients/acme.yaml': null,
          'clients/bakery.yaml': null,
          clients: { link: 'templates/acme' },
          'templates/acme/acme.yaml': `baseUrl: ${thief}\nclientToken: {env: ACME_TOKEN}\n`,
        }),
      ],
      [
        'in a directory outside',
        () => ({ 'clients/acme.yaml': null, 'clients/bakery.yaml': null, clients: { link: '../../canary' } }),
      ],
    ])('with settings %s', async (__, hostile) => {
      const { base, own } = await severalClients();
      // The first as somebody writes it who forgets the others.
      for (const settings of [main, `${main} clients/acme.yaml clients/bakery.yaml`])
        expect((await harmless(base, hostile, { settings, tokens: own })).comments).toHaveLength(1);
    });

    it('with settings where templates may be, even if the job names that directory for both', async () => {
      const { base, own } = await severalClients();
      const job = { settings: 'dns-template-sync.yaml clients', templates: 'templates clients', tokens: own };
      const { comments } = await harmless(
        base,
        (thief) => ({ 'clients/acme.yaml': `baseUrl: ${thief}\nclientToken: {env: ACME_TOKEN}\n` }),
        job,
      );
      expect(comments).toEqual([expect.stringContaining('in sync')]);
    });

    it('that hides what it changes by attributes of Git', async () => {
      const { base } = await described();
      const { comments } = await harmless(
        base,
        () => ({
          '.gitattributes': '*.yaml export-ignore\n',
          'templates/.gitattributes': '*.yaml export-ignore\n',
          'templates/site.yaml': describing('site', '192.0.2.1') + www,
        }),
        { tokens },
      );
      expect(comments).toEqual([expect.stringContaining('192.0.2.9')]);
    });

    it('whose names are commands, lines and Markdown', async () => {
      const { base } = await described();
      const name = '::set-output name=code::0 `@anna` **b** <b>##[set-output name=code]0';
      const { comments, failed, log } = await harmless(
        base,
        () => ({
          [`templates/a\n::error file=x::forged\n.yaml`]: `template: ${JSON.stringify(`${name}\n::warning::forged`)}\nrecords:\n  - {type: A, content: ${JSON.stringify(name)}}\n`,
          'templates/`@anna`.yaml': `template: ${JSON.stringify(name)}\nrecords:\n  - {type: TXT, content: ${JSON.stringify(name)}}\n`,
        }),
        { tokens },
      );
      expect(failed).toBe(true);
      expect(comments).toHaveLength(1);
      for (const line of comments[0]!.split('\n')) expect(line).not.toMatch(/^::|forged$/);
      expect(log).not.toMatch(/^::(?!error file=templates)/m);
      expect(log).not.toContain('##[');
    });
  });
});

it('recipes skip requests that get no tokens', () => {
  expect(workflow.jobs.plan.if).toContain('head.repo.full_name == github.repository');
  expect(JSON.stringify(pipeline)).toContain('$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID');
});
