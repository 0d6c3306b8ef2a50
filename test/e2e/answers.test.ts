import { appendFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startZoneServer } from '../answers/zone-server.ts';
import { lines, prepared, shop, stale } from './answered.ts';
import { reportOf, run } from './program.ts';

vi.setConfig({ testTimeout: 60_000 });

describe('plan --answers', () => {
  it('asks the name servers, and finds everything in sync', async () => {
    const { program, server } = await prepared();
    const { stdout, code } = await program(['plan', '--answers', '--format', 'json', '--detailed-exitcode']);
    const [template] = reportOf(stdout).templates;
    expect(template?.subdomains[0]?.answers).toEqual({
      status: 'in-sync',
      servers: [{ name: server.place, address: server.place, serial: 1, status: 'in-sync', message: null }],
      differences: [],
      askedAt: expect.any(String),
    });
    expect(code).toBe(0);
  });

  it('shows what differs in every form, and writes nothing', async () => {
    const { program, server } = await prepared(stale);
    const json = await program(['plan', '--answers', '--format', 'json', '--detailed-exitcode']);
    expect(json.code).toBe(2);
    const report = reportOf(json.stdout);
    expect(report.status).toBe('drifted');
    expect(report.templates[0]).toMatchObject({
      status: 'drifted',
      differences: [],
      subdomains: [
        {
          status: 'in-sync',
          answers: {
            status: 'drifted',
            differences: [{ kind: 'stale', server: server.place, name: `www.${shop}`, type: 'A' }],
          },
        },
      ],
    });
    for (const format of ['text', 'markdown', 'html']) {
      const { stdout } = await program(['plan', '--answers', '--format', format]);
      expect(stdout).toMatch(/1 difference at name servers/);
      expect(stdout).toContain('192.0.2.9');
    }
  });

  it('asks nobody without the flag', async () => {
    const { program, server } = await prepared(stale, 'answers: on');
    const { stdout, code } = await program(['plan', '--format', 'json', '--detailed-exitcode']);
    expect(reportOf(stdout).templates[0]?.subdomains[0]?.answers).toMatchObject({ status: 'off' });
    expect(code).toBe(0);
    expect(server.questions).toEqual([]);
  });

  it.each([
    ['finds drift if all servers refuse', false, 'differs', 2, 'silent, it refuses to answer'],
    ['fails if no server can be asked', true, 'failed', 1, 'silent, no answer'],
  ])('%s, and says why', async (_, isGone, status, exitCode, why) => {
    const { launch, server } = await prepared();
    const { env, cwd } = launch;
    const other = await startZoneServer({ apex: 'other.example.org', lines: [] });
    if (isGone) await other.close();
    else onTestFinished(() => other.close());
    const { stdout, code } = await run(['plan', '--answers', '--detailed-exitcode'], {
      cwd,
      env: { ...env, DNS_SYNC_NAMESERVERS: other.place },
    });
    expect(code).toBe(exitCode);
    expect(stdout).toContain(status);
    expect(stdout).toContain(why);
    expect(server.questions).toEqual([]);
  });

  it('refuses --ignore-subdomains', async () => {
    const { program } = await prepared();
    const { stderr, code } = await program(['plan', '--answers', '--ignore-subdomains']);
    expect(code).toBe(1);
    expect(stderr).toContain('leave out --ignore-subdomains');
  });

  it('asks the servers that the template file names', async () => {
    const other = await startZoneServer({ apex: shop, lines: stale });
    onTestFinished(() => other.close());
    const { program, server } = await prepared(lines, `nameservers: ['${other.place}']`);
    const { stdout } = await program(['plan', '--answers', '--format', 'json']);
    expect(reportOf(stdout).templates[0]?.subdomains[0]?.answers.status).toBe('drifted');
    expect(server.questions).toEqual([]);
  });
});

describe('check', () => {
  it('shows the four layers side by side', async () => {
    const { program, server } = await prepared(stale);
    const { stdout, code } = await program(['check', shop, '--detailed-exitcode']);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^shop\.example\.net: differs · site \(\d+\) · templates\/site\.yaml\n/);
    expect(stdout).toMatch(new RegExp(`NAME +TYPE +FILE +TEMPLATE +SERVICE +${server.place}`));
    expect(stdout).toMatch(/@ +A +192\.0\.2\.1 += += +=\n/);
    expect(stdout).toMatch(/www +A +192\.0\.2\.2 += += +192\.0\.2\.9\n/);
  });

  it('judges as plan does: neither ignored nor parked records count', async () => {
    const ignore = 'ignore: [{type: TXT, name: _token}]';
    const { program, service, template, server } = await prepared(lines, ignore);
    for (const record of [
      { type: 'TXT', name: '_token', content: 'of somebody else' },
      { type: 'TXT', name: '_parked-7', content: 'parked' },
    ])
      await service.change('add-record', { dns_template_id: template, ...record });
    server.zone.lines = [
      ...lines,
      [`_token.${shop}`, 'TXT', 'of somebody else'],
      [`_parked-7.${shop}`, 'TXT', 'parked'],
    ];
    const planned = await program(['plan', '--answers', '--detailed-exitcode']);
    const checked = await program(['check', shop, '--detailed-exitcode']);
    expect(checked.stdout).toMatch(/^shop\.example\.net: in sync/);
    expect(checked.stdout).toMatch(/_token +TXT +- +of somebody else.* = +=\n/);
    expect([checked.code, planned.code]).toEqual([0, 0]);
  });

  it('fails with the errors of the files if no valid one names the subdomain', async () => {
    const { program } = await prepared(lines, 'recrods: []');
    const { stdout, code } = await program(['check', shop]);
    expect(stdout).toMatch(/^shop\.example\.net: failed .* in no valid template file\n/);
    expect(stdout).toMatch(/^templates\/site\.yaml:3:1: error: .*recrods/m);
    expect(code).toBe(1);
  });

  it('shows a difference in the middle of a long content', async () => {
    const key = (middle: string): string => `v=DKIM1; k=rsa; p=${'A'.repeat(60)}${middle}${'B'.repeat(60)}`;
    const { program, service, template, server, cwd } = await prepared();
    await service.change('add-record', {
      dns_template_id: template,
      type: 'TXT',
      name: 'k',
      content: key('new'),
    });
    await appendFile(
      path.join(cwd, 'templates/site.yaml'),
      `  - {type: TXT, name: k, content: '${key('new')}'}\n`,
    );
    server.zone.lines = [...lines, [`k.${shop}`, 'TXT', key('old')]];
    const { stdout } = await program(['check', shop]);
    expect(stdout).toMatch(/k +TXT +\S.*new.* = +=.*old/);
    server.zone.lines = [...lines, [`k.${shop}`, 'TXT', key('new')]];
    expect((await program(['check', shop])).stdout).toMatch(/k +TXT +v=DKIM1; k=rsa.*…B.* = += +=/);
  });

  it('takes the name of a reverse zone with a slash, and of no URL', async () => {
    const { program } = await prepared();
    const { stderr } = await program(['check', '0/26.2.0.192.in-addr.arpa']);
    expect(stderr).toMatch(/no such subdomain/i);
    for (const url of ['https://example.net', 'example.net/path'])
      expect((await program(['check', url])).stderr).toContain('not a host name');
  });

  it('gives the same as JSON', async () => {
    const { program, server } = await prepared(stale);
    const { stdout, code } = await program(['check', shop, '--format', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject([
      {
        subdomain: shop,
        status: 'drifted',
        template: 'site',
        file: 'templates/site.yaml',
        records: expect.arrayContaining([
          expect.objectContaining({
            name: 'www',
            type: 'A',
            service: [expect.objectContaining({ content: '192.0.2.2' })],
            servers: { [server.place]: [expect.objectContaining({ content: '192.0.2.9' })] },
          }),
        ]),
        answers: { status: 'drifted' },
      },
    ]);
  });

  it('of a name below a subdomain shows the records of that name alone', async () => {
    const { program, server } = await prepared(stale);
    const found = await program(['check', `www.${shop}`, '--detailed-exitcode']);
    expect(found.stdout).toMatch(
      /^www\.shop\.example\.net: differs · in shop\.example\.net · site \(\d+\) · templates\/site\.yaml\nNAME .*\nwww +A +192\.0\.2\.2 += += +192\.0\.2\.9\n=/,
    );
    expect(found.code).toBe(2);
    server.zone.lines = [...lines.slice(1), [shop, 'A', '192.0.2.7']];
    const right = await program(['check', `www.${shop}`, shop, '--detailed-exitcode', '--format', 'json']);
    expect(JSON.parse(right.stdout)).toMatchObject([
      { name: `www.${shop}`, subdomain: shop, status: 'in-sync', records: [{ name: 'www' }] },
      { name: shop, subdomain: shop, status: 'drifted' },
    ]);
  });

  it('of a name that nobody knows says so, and shows the others', async () => {
    const { program } = await prepared();
    const { stdout, stderr, code } = await program(['check', 'nowhere.example.org', shop, `no.${shop}`]);
    expect(stdout).toMatch(/^shop\.example\.net: in sync/);
    expect(stderr).toMatch(/^nowhere\.example\.org: .*no such subdomain/im);
    expect(stderr).toContain(`no.${shop}: ${shop} has no record of that name\n`);
    expect(code).toBe(1);
  });

  it('checks a subdomain that no file names, and says if the service has none', async () => {
    const { program, service } = await prepared();
    await service.change('set-subdomain', { name: 'late.shop.example.net', dns_template_id: 17 });
    const { stdout } = await program(['check', 'late.shop.example.net']);
    expect(stdout).toMatch(/differs · standard-web \(17\) · in no template file/);
    const { stderr, code } = await program(['check', 'nowhere.example.net']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/no such subdomain/i);
  });
});
