import type { PublishedFile } from '../../model/published.ts';
import type { SnapshotHead, SnapshotStore } from '../../state/snapshots.ts';
import { parse } from './clients.ts';
import { planned, type PostgresDatabase, type Query } from '../database.ts';
import { noticeFailover } from './failover.ts';
import { migratedOnce } from './schema.ts';
import { currentTimeline } from './fence.ts';

/**
 * Template files in PostgreSQL, each content once. `isSource`: whether this process is the one that publishes.
 * `leaseDuration`: milliseconds in which each process that has files offers those that may be lost.
 */
export const postgresSnapshots = (
  open: () => PostgresDatabase,
  isSource: (database: PostgresDatabase) => Promise<boolean>,
  leaseDuration: number,
): SnapshotStore => {
  const opened = migratedOnce(open);
  const query: Query = async (...statement) => (await opened()).query(...statement);
  return {
    isSource: async () => isSource(await opened()),
    doubted: async () => {
      await query(noticeFailover);
      const [found] = await query<DoubtedRow>(queries.doubted, [leaseDuration]);
      const { timeline = '', clients = [], unpassed = [] } = found ?? {};
      const numbers = unpassed
        .map((one) => one.split(' '))
        .map(([client = '', number]) => [client, Number(number)] as const);
      return { timeline, clients: new Set(clients), unpassed: new Map(numbers) };
    },
    head: async (client) => {
      const [row] = await query<HeadRow & Doubts>(queries.head, [client, leaseDuration]);
      if (row === undefined) return null;
      const { isDoubted, mayBeOld } = row;
      return { ...headOf(row), isDoubted, mayBeOld };
    },
    read: async (client) => {
      const rows = await query<HeadRow & { readonly body: string | null }>(queries.read, [client], patience);
      const [first] = rows;
      if (first === undefined) return null;
      const files = rows.flatMap(({ body }) => (body === null ? [] : parse<PublishedFile>(body)));
      return { ...headOf(first), files };
    },
    contents: async (hashes) => {
      const rows = await query<{ hash: string; content: Buffer }>(queries.contents, [hashes], patience);
      return new Map(rows.map(({ hash, content }) => [hash, content]));
    },
    wasPublished: async (client, digest) => (await query(queries.wasPublished, [client, digest])).length > 0,
    publish: async (client, after, files, contentOf) =>
      (await opened()).transaction(async (run) => {
        const { digest, revision, uncommitted } = files;
        const facts = [client, after, digest, revision, JSON.stringify(uncommitted)];
        // Whoever else inserts the same number is waited for; one of the two finds it taken.
        if ((await run(queries.publish, facts, patience)).length === 0) return false;
        const sizes = new Map(
          files.files.flatMap(({ content }) => ('hash' in content ? [[content.hash, content.size]] : [])),
        );
        await putContents(run, sizes, contentOf);
        const hashes = files.files.map(({ content }) => ('hash' in content ? content.hash : null));
        const bodies = files.files.map((file) => JSON.stringify(file));
        await run(queries.addFiles, [client, after + 1, hashes, bodies], patience);
        await removeUnneeded(run, client, after);
        return true;
      }),
    advance: async (client, number, { revision, uncommitted }) =>
      void (await query(queries.advance, [client, number, revision, JSON.stringify(uncommitted)])),
    doubt: async (client, number) => {
      const [row] = await query<{ age: number }>(queries.doubt, [client, number]);
      return row?.age ?? 0;
    },
    pass: async (client, number) => void (await query(queries.pass, [client, number])),
    confirm: async (client, number) => void (await query(queries.confirm, [client, number])),
  };
};

interface HeadRow {
  readonly number: string;
  readonly digest: string;
  readonly revision: string | null;
  readonly uncommitted: string;
}

type Doubts = Pick<SnapshotHead, 'isDoubted' | 'mayBeOld'>;

interface DoubtedRow {
  readonly timeline: string;
  readonly clients: readonly string[];
  readonly unpassed: readonly string[];
}

const headOf = ({ number, digest, revision, uncommitted }: HeadRow) => ({
  number: Number(number),
  digest,
  revision,
  uncommitted: parse<readonly string[]>(uncommitted),
});

/** Those that are there are kept there until the end of the transaction. */
const putContents = async (
  run: Query,
  sizes: ReadonlyMap<string, number>,
  contentOf: (hash: string) => Promise<Buffer>,
): Promise<void> => {
  const there = await run<{ hash: string }>(queries.lockContents, [[...sizes.keys()]], patience);
  const known = new Set(there.map(({ hash }) => hash));
  let batch: [string, Buffer][] = [];
  let size = 0;
  const flush = async (): Promise<void> => {
    await run(queries.putContents, [batch.map(([hash]) => hash), batch.map(([, bytes]) => bytes)], patience);
    [batch, size] = [[], 0];
  };
  for (const [hash, bytes] of sizes) {
    if (known.has(hash)) continue;
    batch.push([hash, await contentOf(hash)]);
    size += bytes;
    if (size > batchSize) await flush();
  }
  if (batch.length > 0) await flush();
};

/** Whoever reads the publication before this one may still be at it. */
const removeUnneeded = async (run: Query, client: string, after: number): Promise<void> => {
  const removed = await run<{ hash: string | null }>(queries.removeFiles, [client, after], patience);
  const hashes = [...new Set(removed.flatMap(({ hash }) => hash ?? []))];
  if (hashes.length > 0) await run(queries.removeContents, [hashes], patience);
  await run(queries.removeOld, [client, after + 1 - keptDigests]);
};

/** Milliseconds: there may be many files. */
const patience = 60_000;

/** Bytes that are sent at once. */
const batchSize = 4 * 1_024 ** 2;

/** So many publications are known again as old files. */
const keptDigests = 1_000;

const newest = `(SELECT max(number) FROM dns_template_sync.snapshots WHERE client = $1)`;
const facts = `s.number, s.digest, s.revision, s.uncommitted`;

const queries = {
  head: planned(`SELECT ${facts}, s.doubted_at IS NOT NULL OR s.timeline <> current AS "isDoubted",
      s.timeline <> current OR f.timeline <> current OR f.since + $2 * interval '1 millisecond' > clock_timestamp() AS "mayBeOld"
    FROM dns_template_sync.snapshots s, dns_template_sync.failovers f, (SELECT ${currentTimeline} AS current) own
    WHERE s.client = $1 AND s.number = ${newest}`),
  // One statement sees one moment: never half of a publication, nor files without their head.
  read: `SELECT ${facts}, f.body FROM dns_template_sync.snapshots s
    LEFT JOIN dns_template_sync.snapshot_files f ON f.client = s.client AND f.number = s.number
    WHERE s.client = $1 AND s.number = ${newest} ORDER BY f.position`,
  contents: 'SELECT hash, content FROM dns_template_sync.blobs WHERE hash = ANY ($1::text[])',
  wasPublished: 'SELECT FROM dns_template_sync.snapshots WHERE client = $1 AND digest = $2 LIMIT 1',
  publish: `INSERT INTO dns_template_sync.snapshots (client, number, digest, revision, uncommitted, published_at, timeline, is_passed)
    SELECT $1, $2::bigint + 1, $3, $4, $5, clock_timestamp(), ${currentTimeline}, false WHERE coalesce(${newest}, 0) = $2::bigint
    ON CONFLICT DO NOTHING RETURNING number`,
  lockContents:
    'SELECT hash FROM dns_template_sync.blobs WHERE hash = ANY ($1::text[]) ORDER BY hash FOR KEY SHARE',
  putContents: `INSERT INTO dns_template_sync.blobs (hash, content)
    SELECT * FROM unnest($1::text[], $2::bytea[]) ON CONFLICT DO NOTHING`,
  addFiles: `INSERT INTO dns_template_sync.snapshot_files (client, number, position, hash, body)
    SELECT $1, $2, position, hash, body FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS given (hash, body, position)`,
  removeFiles:
    'DELETE FROM dns_template_sync.snapshot_files WHERE client = $1 AND number < $2 RETURNING hash',
  removeContents: `DELETE FROM dns_template_sync.blobs b WHERE hash = ANY ($1::text[])
    AND NOT EXISTS (SELECT FROM dns_template_sync.snapshot_files f WHERE f.hash = b.hash)`,
  removeOld: 'DELETE FROM dns_template_sync.snapshots WHERE client = $1 AND number <= $2',
  advance: `UPDATE dns_template_sync.snapshots SET revision = $3, uncommitted = $4 WHERE client = $1 AND number = $2`,
  doubt: `UPDATE dns_template_sync.snapshots SET doubted_at = coalesce(doubted_at, clock_timestamp())
    WHERE client = $1 AND number = $2
    RETURNING (extract(epoch FROM clock_timestamp() - doubted_at) * 1000)::float8 AS age`,
  doubted: `SELECT ${currentTimeline} AS timeline,
    ARRAY(SELECT client FROM dns_template_sync.snapshots WHERE doubted_at IS NOT NULL) AS clients,
    ARRAY(SELECT client || ' ' || number FROM dns_template_sync.snapshots
      WHERE NOT is_passed AND published_at + $1 * interval '1 millisecond' < clock_timestamp()) AS unpassed`,
  pass: `UPDATE dns_template_sync.snapshots SET is_passed = true
    WHERE client = $1 AND number <= $2 AND NOT is_passed`,
  confirm: `UPDATE dns_template_sync.snapshots SET doubted_at = NULL, timeline = ${currentTimeline}
    WHERE client = $1 AND number = $2`,
} as const;
