import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RealityName } from '../../src/sandbox/realities.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { authority, secureFront } from '../network/certificates.ts';
import { run, workplace } from './program.ts';
import { clientToken, environment, userToken } from './service.ts';

const scene = async (...names: RealityName[]) => {
  const cwd = await workplace();
  const seen: string[] = [];
  const dataFile = path.join(cwd, 'service.json');
  const sandbox = await startSandbox({
    dataFile,
    realities: names,
    onRequest: ({ method, path: asked, status }) => seen.push(`${method} ${asked} ${status}`),
  });
  onTestFinished(() => sandbox.close());
  const env = { ...environment(sandbox.url), NO_COLOR: '1' };
  const examine = async (args: string[] = [], more: Record<string, string> = {}) => {
    const ended = await run(['doctor', '--format', 'json', ...args], { cwd, env: { ...env, ...more } });
    return { ...ended, found: ended.stdout === '' ? null : JSON.parse(ended.stdout) };
  };
  return { cwd, seen, sandbox, env, examine };
};

/** A finding with this text. */
const saying = (about: string, state: string, text: string) =>
  expect.objectContaining({ about, state, text: expect.stringContaining(text) });

it.each<[name: RealityName, finding: unknown]>([
  ['cut-listing', saying('subdomains', 'problem', 'the listing is not whole, so nothing may be added')],
  ['no-owner', saying('records', 'problem', 'without publicly_available')],
  ['placeholders', saying('records', 'note', 'have a placeholder, such as www.##DOMAIN##')],
  ['null-content', saying('records', 'note', 'of other types are counted, never written')],
  ['null-known', saying('records', 'note', 'or unreadable (900017: host.empty A), are counted')],
  ['empty-listing', saying('records', 'note', 'is the listing whole?')],
])('tells before any write that a service is %s', async (name, finding) => {
  const { examine } = await scene(name);
  expect((await examine()).found.findings).toContainEqual(finding);
});

it('shows how each field is spelled, and what surrounds the program', async () => {
  const { cwd, env } = await scene();
  const { code, stdout } = await run(['doctor'], { cwd, env });
  expect(code).toBe(0);
  for (const line of [
    /✓ address +connected to http:\/\/127\.0\.0\.1:\d+ in \d+ ms\n/,
    /✓ +the subdomain itself: no name \(170: A 203\.0\.113\.10\)\n/,
    /✓ +TXT: not quoted \(179: TXT v=spf1 mx -all\)\n/,
    /✓ settings +baseUrl: DNS_SYNC_BASE_URL, .*userToken: DNS_SYNC_USER_TOKEN/,
    /✓ template files +5 templates in 5 files/,
    /\nuserToken: \{ env: DNS_SYNC_USER_TOKEN \}\n/,
  ])
    expect(stdout).toMatch(line);
  expect(stdout.split('\n').length).toBeLessThan(45);
  for (const token of [userToken, clientToken]) expect(stdout).not.toContain(token);
});

it('names the authority of a certificate, and one that is not trusted', async () => {
  const { sandbox, examine } = await scene();
  const port = await secureFront(Number(new URL(sandbox.url).port));
  const at = { DNS_SYNC_BASE_URL: `https://localhost:${port}/api/v1` };
  const distrusted = await examine([], at);
  expect(distrusted.code).toBe(1);
  expect(distrusted.found.findings).toContainEqual(
    saying('address', 'problem', 'it comes from authority; if that is an authority of your own, set ca'),
  );
  const trusted = await examine([], { ...at, DNS_SYNC_CA: authority.file });
  expect(trusted.code).toBe(0);
  expect(trusted.found.findings).toContainEqual(
    saying('address', 'ok', 'certificate of authority, valid until'),
  );
  expect(trusted.found.settings).toContain(`ca: ${authority.file}\n`);
});

it('says that nothing answers', async () => {
  const { sandbox, examine } = await scene();
  await sandbox.close();
  const { code, found } = await examine();
  expect(code).toBe(1);
  expect(found.findings).toContainEqual(saying('GET /dns_templates', 'problem', 'connection refused'));
});
