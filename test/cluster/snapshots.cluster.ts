import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sharedTemplates, type TemplateSource } from '../../src/source/template-source.ts';
import type { PublishedFiles } from '../../src/model/published.ts';
import { MemoryError } from '../../src/state/memory.ts';
import type { PostgresDatabase } from '../../src/cluster/postgres/database.ts';
import { postgresSnapshots } from '../../src/cluster/postgres/snapshots.ts';
import { runFor } from '../../src/cluster/postgres/candidacy.ts';
import type { SnapshotStore } from '../../src/state/snapshots.ts';
import { git, newCheckout } from '../source/checkout.ts';
import { options } from '../desired/load-files.ts';
import { newFolder } from '../state/samples.ts';
import { newDatabase } from './databases.ts';

const storeOf = (database: PostgresDatabase, isSource = true): SnapshotStore =>
  postgresSnapshots(
    () => database,
    () => Promise.resolve(isSource),
    0,
  );

const filesOf = (contents: Readonly<Record<string, string>>): PublishedFiles => ({
  digest: JSON.stringify(contents),
  revision: null,
  uncommitted: [],
  files: Object.entries(contents).map(([relative, content]) => ({
    path: `templates/${relative}`,
    root: 'templates',
    relative,
    isListed: true,
    content: { hash: content, size: content.length },
  })),
});

const asIs = (hash: string): Promise<Buffer> => Promise.resolve(Buffer.from(`content ${hash}`));

const hashesIn = async (database: PostgresDatabase): Promise<string[]> =>
  (await database.query<{ hash: string }>('SELECT hash FROM dns_template_sync.blobs ORDER BY hash')).map(
    ({ hash }) => hash,
  );

describe('published files', () => {
  it('are read as they were published, and contents that nobody needs any more are gone', async () => {
    const database = await newDatabase();
    const store = storeOf(database);
    expect(await store.head('one')).toBeNull();
    expect(await store.read('one')).toBeNull();
    const first = filesOf({ a: '1', b: '2' });
    expect(await store.publish('one', 0, first, asIs)).toBe(true);
    expect(await store.read('one')).toMatchObject({ number: 1, digest: first.digest, files: first.files });
    expect(await store.contents(['1', '3'])).toEqual(new Map([['1', Buffer.from('content 1')]]));
    await store.publish('two', 0, filesOf({ c: '2' }), asIs);
    const unread = (): Promise<never> => Promise.reject(new Error('it is there'));
    await store.publish('one', 1, filesOf({ a: '1' }), unread);
    expect(await hashesIn(database)).toEqual(['1', '2']);
    await store.publish('one', 2, filesOf({ a: '4' }), asIs);
    await store.publish('one', 3, filesOf({}), asIs);
    expect(await hashesIn(database)).toEqual(['2', '4']);
    expect(await store.read('one')).toMatchObject({ number: 4, files: [] });
    expect(await store.wasPublished('one', first.digest)).toBe(true);
    expect(await store.wasPublished('two', first.digest)).toBe(false);
  });

  it('are never seen by half, not while they are published, nor after that has failed', async () => {
    const database = await newDatabase();
    const store = storeOf(database);
    const versions = 40;
    const versionOf = (version: number): PublishedFiles =>
      filesOf(Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`file-${at}`, `${version}-${at}`])));
    const over = new AbortController();
    const reader = async (): Promise<number> => {
      const seen = new Set<number>();
      for (let last = 0; !over.signal.aborted;) {
        const snapshot = await store.read('one');
        if (snapshot === null) continue;
        const hashes = snapshot.files.map(({ content }) => ('hash' in content ? content.hash : ''));
        expect(hashes).toEqual(hashes.map((_, at) => `${snapshot.number}-${at}`));
        expect(hashes).toHaveLength(20);
        expect(snapshot.number).toBeGreaterThanOrEqual(last);
        last = snapshot.number;
        seen.add(last);
      }
      return seen.size;
    };
    const readers = [reader(), reader()];
    for (let version = 1; version <= versions; version += 1) {
      const broken = async (hash: string): Promise<Buffer> => {
        if (hash.endsWith('-13')) throw new Error('it changed meanwhile');
        return asIs(hash);
      };
      await expect(store.publish('one', version - 1, versionOf(version), broken)).rejects.toThrow('changed');
      expect(await store.publish('one', version - 1, versionOf(version), asIs)).toBe(true);
    }
    over.abort();
    for (const seen of await Promise.all(readers)) expect(seen).toBeGreaterThan(1);
    expect(await hashesIn(database)).toHaveLength(40);
  });

  it('have one successor, whoever publishes at the same time', async () => {
    const database = await newDatabase();
    const store = storeOf(database);
    for (let after = 0; after < 20; after += 1) {
      const published = await Promise.all(
        [1, 2, 3].map((who) => store.publish('one', after, filesOf({ a: `${after} ${who}` }), asIs)),
      );
      expect(published.filter(Boolean)).toHaveLength(1);
    }
  });

  it('are doubted until somebody has them', async () => {
    const store = storeOf(await newDatabase());
    await store.publish('one', 0, filesOf({}), asIs);
    const first = await store.doubt('one', 1);
    expect((await store.doubted()).clients).toEqual(new Set(['one']));
    expect(await store.head('one')).toMatchObject({ isDoubted: true });
    expect(await store.doubt('one', 1)).toBeGreaterThan(first);
    await store.confirm('one', 1);
    expect((await store.doubted()).clients).toEqual(new Set());
    expect(await store.head('one')).toMatchObject({ isDoubted: false });
  });
});

describe('the source', () => {
  it('is one at a time, and another one once it is gone', async () => {
    const database = await newDatabase();
    const first = runFor('source', database, { duration: 600 });
    expect(await first.isElected()).toBe(true);
    const second = runFor('source', database, { duration: 600 });
    expect(await second.isElected()).toBe(false);
    await first.close();
    await expect.poll(() => second.isElected(), { timeout: 10_000 }).toBe(true);
    await second.close();
  });

  it('is replaced where it is not heard of any more, and knows it', async () => {
    const database = await newDatabase();
    let isCut = false;
    const cut: PostgresDatabase = {
      ...database,
      query: (...statement) =>
        isCut ? Promise.reject(new MemoryError('partition')) : database.query(...statement),
    };
    const first = runFor('source', cut, { duration: 600 });
    expect(await first.isElected()).toBe(true);
    isCut = true;
    const second = runFor('source', database, { duration: 600 });
    onTestFinished(() => second.close());
    await expect.poll(() => second.isElected(), { timeout: 10_000 }).toBe(true);
    expect(await first.isElected()).toBe(false);
    isCut = false;
    await first.close();
  });
});

const describing = (content: string): string =>
  `template: web\nrecords:\n  - {type: A, content: ${content}}\n`;

const contentsIn = async (templates: TemplateSource): Promise<string[]> => {
  const { templates: loaded, problems } = await templates.load();
  expect(problems).toEqual([]);
  return loaded.flatMap(({ records }) => records.map(({ content }) => content));
};

describe('files of a machine', () => {
  const at = (store: SnapshotStore, folder: string, patience = 60_000): TemplateSource =>
    sharedTemplates({
      load: { ...options, paths: [path.join(folder, 'templates')] },
      snapshots: store,
      client: () => 'one',
      patience,
    });

  const folderWith = (content: string): string => {
    const folder = newFolder();
    mkdirSync(path.join(folder, 'templates'));
    writeFileSync(path.join(folder, 'templates/web.yaml'), describing(content));
    return folder;
  };

  it('are loaded by one that has none, with the paths and the commit of the source', async () => {
    const database = await newDatabase();
    const checkout = newCheckout();
    writeFileSync(path.join(checkout, 'templates/web.yaml'), describing('192.0.2.1'));
    const source = at(storeOf(database), checkout);
    const worker = at(storeOf(database, false), '/nowhere');
    await expect(worker.load()).rejects.toThrow('no template files of this client have been published yet');
    expect(await worker.publish()).toBe('no-files');
    expect(await source.publish()).toBe('published');
    expect(await contentsIn(worker)).toEqual(['192.0.2.1']);
    const file = path.join(checkout, 'templates/web.yaml');
    expect((await worker.load()).templates[0]?.source.file).toBe(file);
    expect(worker.revisions()(file)).toBe(git(checkout, 'rev-parse', 'HEAD'));
  });

  it('are newer without git where they changed before somebody’s eyes, or nobody has the others', async () => {
    const database = await newDatabase();
    const store = storeOf(database);
    const [one, other] = [folderWith('192.0.2.1'), folderWith('192.0.2.1')];
    const [first, second] = [at(store, one), at(store, other)];
    expect(await first.publish()).toBe('published');
    writeFileSync(path.join(one, 'templates/web.yaml'), describing('192.0.2.2'));
    expect(await first.publish()).toBe('published');
    // Old files, which were published once, and others that nobody knows.
    expect(await second.publish()).toBe('older');
    writeFileSync(path.join(other, 'templates/web.yaml'), describing('192.0.2.3'));
    expect(await second.publish()).toBe('waits');
    expect((await store.doubted()).clients).toEqual(new Set(['one']));
    expect(await first.publish()).toBe('same');
    expect((await store.doubted()).clients).toEqual(new Set());
    expect(await contentsIn(second)).toEqual(['192.0.2.2']);
    rmSync(one, { recursive: true });
    expect(await first.publish()).toBe('no-files');
    const third = at(store, other, 0);
    expect(await third.publish()).toBe('published');
    expect(await contentsIn(second)).toEqual(['192.0.2.3']);
  });

  it('are still known where PostgreSQL does not answer', async () => {
    const database = await newDatabase();
    let isCut = false;
    const cut: PostgresDatabase = {
      ...database,
      query: (...statement) => {
        const [sql, values] = isCut ? ['SELECT 1/0', []] : statement;
        return database.query(sql, values);
      },
    };
    const folder = folderWith('192.0.2.1');
    const source = at(storeOf(cut), folder);
    await source.publish();
    const before = await source.load();
    isCut = true;
    expect(await source.load()).toBe(before);
  });

  it('are as many bytes as one may have, and no more', async () => {
    const database = await newDatabase();
    const folder = folderWith('192.0.2.1');
    const size = 16 * 1_024 ** 2;
    writeFileSync(path.join(folder, 'templates/large.yaml'), Buffer.alloc(size + 500, '#'));
    const source = at(storeOf(database), folder);
    expect(await source.publish()).toBe('published');
    const { templates, problems } = await source.load();
    expect(templates).toHaveLength(1);
    expect(problems).toMatchObject([{ message: expect.stringContaining('larger than 16 MiB') }]);
    const [row] = await database.query<{ size: number }>(
      'SELECT max(length(content)) AS size FROM dns_template_sync.blobs',
    );
    expect(row?.size).toBe(size + 1);
  });
});
