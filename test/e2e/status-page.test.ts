import { describe, expect, it, vi } from 'vitest';
import { status } from '../wire/scripted-server.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, describing, startDaemon, triggerToken } from './daemon.ts';
import { workplace } from './program.ts';
import { startService, type Meddling } from './service.ts';

vi.setConfig({ testTimeout: 30_000 });

/** The daemon after its first pass, on one template `site`. */
const started = async ({ meddle = () => null, args = [] }: { meddle?: Meddling; args?: string[] } = {}) => {
  const service = await startService(meddle);
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const edit = (address: string, keys = ''): Promise<void> =>
    writeBelow(cwd, 'templates/site.yaml', describing('site', address, keys));
  await edit('192.0.2.1');
  const daemon = await startDaemon(args, { cwd, env: service.env });
  await daemon.event('pass.finished');
  const page = async (): Promise<string> => (await daemon.ask('/')).text();
  return { cwd, service, id, edit, daemon, page };
};

describe('the status page of the running program', () => {
  it('shows differences, writes, and rejected clients', async () => {
    let answer: ReturnType<Meddling> = null;
    const { service, id, edit, daemon, page } = await started({ meddle: () => answer });
    expect(await page()).toContain('everything in sync: 1 record in 1 template');
    await edit('192.0.2.2');
    await daemon.event('pass.finished');
    expect(await (await daemon.ask('/writes')).text()).toMatch(
      /<del><code>192\.0\.2\.1<\/code><\/del>.*?<ins><code>192\.0\.2\.2<\/code><\/ins>/s,
    );
    await service.change('add-record', { dns_template_id: id, type: 'A', name: 'b', content: '<b>1</b>' });
    await daemon.pass();
    expect(await page()).toContain('&#60;b&#62;1&#60;/b&#62;');
    expect(await page()).toContain('1 surplus');
    answer = status(401, 'who are you?');
    await daemon.pass();
    expect(await page()).toMatch(/answered 401: .*?who are you.*?✕<\/span> denied<\/span>/s);
    expect(await page()).toContain('Backing off');
  });

  it('tells nobody who searches for a secret whether a record holds it', async () => {
    const { service, id, daemon, page } = await started({ args: ['--dry-run'] });
    const content = `key=${triggerToken}`;
    await service.change('add-record', { dns_template_id: id, type: 'TXT', name: 'k', content });
    await daemon.pass();
    expect(await page()).toContain('key=[secret]');
    const find = async (text: string): Promise<string> =>
      (await daemon.ask(`/?q=${encodeURIComponent(text)}`)).text();
    expect(await find('key=')).toContain('key=[secret]');
    expect(await find(`key=${triggerToken.slice(0, 3)}`)).toContain('Nothing matches.');
  });

  it('shows the errors of an invalid file on the page of its template, and what the service has', async () => {
    const { cwd, service, id, edit, daemon } = await started();
    const words = async (): Promise<string> => {
      const html = await (await daemon.ask('/templates/site')).text();
      const [, main = ''] = /<main.*?>(.*)<\/main>/s.exec(html) ?? [];
      return main
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .replaceAll('&#96;', '`');
    };
    expect(await words()).toContain('1 record in the file');
    await writeBelow(cwd, 'templates/_web.yaml', 'records:\n  - {type: A, content: 192.0.2.300}\n');
    await edit('192.0.2.2', 'include: [_web.yaml]\nttl: soon\n');
    await daemon.event('pass.finished', ({ status: found }) => found === 'failed');
    await service.change('add-record', {
      dns_template_id: id,
      type: 'MX',
      content: 'mx.example.net',
      priority: 7,
    });
    const readings = service.seen.length;
    await daemon.pass();
    expect(service.seen.length - readings).toBe(1);
    const page = await words();
    expect(page).toMatch(/error templates\/site\.yaml:3:6 `ttl` is `soon`/);
    expect(page).toMatch(/error templates\/_web\.yaml:2:24 `192\.0\.2\.300` is not/);
    expect(page).toContain('2 records at the service');
    expect(page).toMatch(/@ A 192\.0\.2\.1 ttl 3600 record \d+ @ MX 7 mx\.example\.net ttl 3600 record \d+/);
    expect(service.writes()).toEqual([]);
  });
});
