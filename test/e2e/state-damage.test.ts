import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import { describe, expect, it, vi } from 'vitest';
import { built } from '../built.ts';
import { writeBelow } from '../daemon/ways.ts';
import { addTemplate, contentsOf, startDaemon } from './daemon.ts';
import { startCommand } from './process.ts';
import { workplace } from './program.ts';
import { startService } from './service.ts';

vi.setConfig({ testTimeout: 60_000 });

const nobody = 65_534;

/** A daemon of a user who may not write everywhere, after it has added `192.0.2.2`. */
const running = async () => {
  const service = await startService();
  const id = await addTemplate(service, 'site', '192.0.2.1');
  const cwd = await workplace({ withExamples: false });
  const want = (...addresses: readonly string[]): Promise<void> => {
    const records = addresses.map((one) => `  - {type: A, content: ${one}}\n`).join('');
    return writeBelow(cwd, 'templates/site.yaml', `template: site\nrecords:\n${records}`);
  };
  await want('192.0.2.1', '192.0.2.2');
  chownSync(cwd, nobody, nobody);
  const daemon = await startDaemon([], { cwd, env: service.env }, (args, launch) =>
    startCommand([process.execPath, built('main.js'), ...args], launch, { uid: nobody, gid: nobody }),
  );
  await daemon.event('change.applied');
  await daemon.event('pass.finished');
  const [folder, file] = [path.join(cwd, 'state'), path.join(cwd, 'state', 'memory.db')];
  const contents = async (): Promise<string[]> => (await contentsOf(service, id)).toSorted();
  return { service, want, daemon, contents, folder, file };
};

/** As another program changes it; nothing waits in the journal file afterwards. */
const change = (file: string, sql = ''): void => {
  const database = new Database(file);
  database.exec(`${sql}; PRAGMA wal_checkpoint(TRUNCATE)`);
  database.close();
};

const isRootOnLinux = process.getuid?.() === 0 && process.platform === 'linux';

describe.runIf(isRootOnLinux)('a daemon whose state', () => {
  it.each<[string, (file: string) => void, RegExp]>([
    [
      'has pages of zeros',
      (file) => {
        change(file);
        writeFileSync(file, readFileSync(file).fill(0, 4_096));
      },
      /is damaged .* moved to/s,
    ],
    [
      'is cut',
      (file) => {
        change(file);
        truncateSync(file, statSync(file).size / 2);
      },
      /is damaged .* moved to/s,
    ],
    ['is no database', (file) => writeFileSync(file, 'text '.repeat(5_000)), /is damaged .* moved to/],
    [
      'has the tables of another program',
      (file) => change(file, 'DROP TABLE journal; CREATE TABLE notes (text)'),
      /is damaged \(no such table: journal\)/,
    ],
    [
      'has a text that is not UTF-8',
      (file) => change(file, "UPDATE templates SET body = CAST(x'7b22ff227d' AS TEXT)"),
      /is damaged \(The encoded data was not valid/,
    ],
    [
      'has a text that is no JSON',
      (file) => change(file, "UPDATE templates SET body = 'text'"),
      /is damaged \(Unexpected token/,
    ],
    ['is emptied', (file) => truncateSync(file, 0), /is damaged .* moved to/],
    [
      'is replaced',
      (file) => {
        change(`${file}.other`);
        chownSync(`${file}.other`, nobody, nobody);
        renameSync(`${file}.other`, file);
      },
      /was removed, emptied or replaced/,
    ],
  ])('%s says so, goes on, and adds nothing for a while', async (_, damage, what) => {
    const { service, want, daemon, contents, file } = await running();
    damage(file);
    await want('192.0.2.3', '192.0.2.2', '192.0.2.4');
    await daemon.event('pass.finished');
    expect(await daemon.pass()).toMatchObject({ status: 'held', summary: { held: { add: 1 } } });
    const said = daemon.lines().flatMap(({ notice, error }) => [notice, error].filter(Boolean).map(String));
    expect(said).toContainEqual(expect.stringMatching(what));
    expect(said.filter((text) => text.includes(file) && text.includes('no adds before'))).toHaveLength(1);
    expect(said.join()).not.toContain('database is locked');
    expect(await contents()).toEqual(['192.0.2.2', '192.0.2.3']);
    expect(service.writes()).toHaveLength(2);
  });

  it('has lost its journal file has lost nothing, for what was in it is still known', async () => {
    const { service, want, daemon, contents, file } = await running();
    rmSync(`${file}-wal`);
    await want('192.0.2.3', '192.0.2.2', '192.0.2.4');
    await daemon.event('pass.finished');
    expect(await daemon.pass()).toMatchObject({ status: 'in-sync' });
    expect(await contents()).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.4']);
    expect(service.writes()).toHaveLength(3);
    expect(new Database(file).prepare('SELECT id FROM history').all()).toHaveLength(3);
  });

  it.each([
    ['is read-only', 0o555],
    ["is another user's", 0o700],
  ])('%s says so and writes nothing, until it is mended', async (_, mode) => {
    const { service, want, daemon, contents, folder } = await running();
    const names = ['', ...readdirSync(folder)];
    const own = (user: number, most: number): void => {
      for (const name of names) {
        chownSync(path.join(folder, name), user, user);
        chmodSync(path.join(folder, name), most & (name === '' ? 0o777 : 0o666));
      }
    };
    own(0, mode);
    await want('192.0.2.3', '192.0.2.2', '192.0.2.4');
    const [first, second] = [await daemon.event('pass.finished'), await daemon.pass()];
    for (const pass of [first, second])
      expect(pass).toMatchObject({ status: 'failed', error: expect.stringContaining(folder) });
    expect(service.writes()).toHaveLength(1);
    own(nobody, 0o700);
    expect(await daemon.pass()).toMatchObject({ status: 'in-sync', summary: { applied: 2 } });
    expect(await contents()).toEqual(['192.0.2.2', '192.0.2.3', '192.0.2.4']);
  });
});
