import { mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Random } from './random.ts';
import { dataKey, type WireRecord } from './wire.ts';

export type FileRecord = Omit<WireRecord, 'id'>;

/** A template file of a round. */
export interface TemplateFile {
  readonly template: string;
  readonly surplus: 'report' | 'park';
  readonly adopt: boolean;
  readonly mode?: 'edits' | 'report';
  readonly limits?: Readonly<Record<string, number>>;
  readonly records: readonly FileRecord[];
}

export const drawFile = (template: string, random: Random): TemplateFile => {
  const surplus = random.pick(['report', 'park']);
  const records = Array.from({ length: 3 + random.below(7) }, () => drawRecord(random, surplus));
  return { template, surplus, adopt: random.chance(0.3), records: valid(records) };
};

/** The next version of a file: some records changed, dropped, new. */
export const editFile = (file: TemplateFile, random: Random): TemplateFile => {
  const kept = file.records.flatMap((record) => {
    if (random.chance(0.15)) return [];
    return [random.chance(0.25) ? changed(record, random) : record];
  });
  const added = Array.from({ length: random.below(4) }, () => drawRecord(random, file.surplus));
  const records = valid([...kept, ...added]);
  return { ...file, records: records.length > 0 ? records : file.records };
};

/** Like editors: writes a new file, then renames it. */
export const writeTemplateFile = async (folder: string, file: TemplateFile): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const place = path.join(folder, `${file.template}.yaml`);
  const ignore = [{ name: '_acme-challenge' }];
  const records = file.records.map(({ name, priority, ttl, ...data }) => ({
    ...data,
    ...(name === null ? {} : { name }),
    ...(priority === null ? {} : { priority }),
    ...(ttl === null ? {} : { ttl }),
  }));
  // Every JSON text is YAML.
  await writeFile(`${place}.new`, JSON.stringify({ ...file, ignore, records }, null, 1));
  await rename(`${place}.new`, place);
};

/** Names differ by type where a CNAME must be alone; `swap` is one or the other. */
const drawRecord = (random: Random, surplus: TemplateFile['surplus']): FileRecord => {
  const ttl = random.pick([null, null, 300, 3600]);
  const record = (type: string, name: string | null, content: string, priority: number | null = null) => ({
    type,
    name,
    content,
    priority,
    ttl,
  });
  const n = 1 + random.below(4);
  const kinds: readonly [() => FileRecord, ...(() => FileRecord)[]] = [
    () => record('A', random.pick([null, 'www', 'api']), `203.0.113.${n}`),
    () => record('A', random.pick(['www', 'shop']), `203.0.113.${n}`),
    () => record('AAAA', random.pick([null, 'www']), `2001:db8::${n}`),
    () => record('TXT', null, `v=spf1 include:spf${n}.example.net -all`),
    () => record('TXT', random.pick([null, 'info']), `site-code ${n}`),
    () => record('MX', null, `mx${n}.example.net`, random.pick([10, 20])),
    () => record('CNAME', random.pick(['docs', 'blog']), `target${n}.example.net`),
    () => record('SRV', '_sip._tcp', `5 5060 sip${n}.example.net`, 10),
    () => record('PTR', random.pick(['7', '8']), `host${n}.example.net`),
    () =>
      surplus === 'park' && random.chance(0.5)
        ? record('CNAME', 'swap', `target${n}.example.net`)
        : record('A', 'swap', `203.0.113.${n}`),
  ];
  return random.pick(kinds)();
};

/** Another content or TTL for the same name. */
const changed = (record: FileRecord, random: Random): FileRecord =>
  random.chance(0.4)
    ? { ...record, ttl: random.pick([null, 300, 600, 3600]) }
    : { ...record, content: record.content.replace(/\d(?=[^\d]*$)/, () => String(5 + random.below(4))) };

/** Without errors of a file: copies, a second SPF, and a CNAME beside others. */
const valid = (records: readonly FileRecord[]): FileRecord[] => {
  const seen = new Set<string>();
  return records.filter((record) => {
    const place = `${record.type} ${record.name}`;
    const single = record.type === 'CNAME' || record.content.startsWith('v=spf1') ? [place] : [];
    const alone = record.name === 'swap' ? ['swap'] : [];
    const keys = [dataKey(record), ...single, ...alone];
    if (keys.some((key) => seen.has(key))) return false;
    for (const key of keys) seen.add(key);
    return true;
  });
};
