import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { address, openPlace } from './place.ts';

// In a container, the mounted files often belong to another user than the one it runs as.
it('names the user to whom a file is denied', { timeout: 60_000 }, async () => {
  const actual = [address('www', '203.0.113.1')];
  const place = await openPlace(actual);
  await place.write(actual);
  // Root may read anything: the program then runs as another user.
  const nobody = process.getuid?.() === 0 ? { process: { uid: 65_534 } } : {};
  const uid = nobody.process?.uid ?? process.getuid?.();
  const denied = path.join(place.folder, 'denied');
  writeFileSync(denied, 'token: x\n', { mode: 0o000 });
  const said = async (args: readonly string[], env = {}): Promise<string> => {
    const { code, stdout, stderr } = await place.run(args, { ...nobody, env });
    expect(code).toBe(1);
    return stdout + stderr;
  };

  const token = { DNS_SYNC_USER_TOKEN: undefined, DNS_SYNC_USER_TOKEN_FILE: denied };
  expect(await said(['plan'], token)).toContain(
    `cannot read ${denied} (no permission: EACCES for uid ${uid})`,
  );
  expect(await said(['plan', '--config', denied])).toContain(
    `cannot read this file (no permission: EACCES for uid ${uid})`,
  );
  expect(await said(['plan', '--out', denied])).toContain(`for uid ${uid}`);
  const templates = path.join(place.folder, 'templates');
  chmodSync(templates, 0o000);
  expect(await said(['validate'])).toContain(`${templates} cannot be read: permission denied for uid ${uid}`);
});
