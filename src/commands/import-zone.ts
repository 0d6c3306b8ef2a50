import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { onlyOne } from '../app/app-context.ts';
import { readOffline, type Options } from '../app/options.ts';
import { printLine } from '../app/progress.ts';
import { maxFileSize } from '../desired/parse-file.ts';
import { ArgumentError, codeOf, UserError } from '../errors.ts';
import { labelsOf } from '../import/label.ts';
import { originFrom } from '../import/zone/data.ts';
import { readZone } from '../import/zone/read-zone.ts';
import type { Io } from '../io.ts';
import { isHostLabel } from '../model/host.ts';
import { readRegularFileSync } from '../regular-file.ts';
import { redactor, redactTexts } from '../secrets.ts';
import { importTarget, importTemplate, showOutcomes } from './import.ts';

/** Writes a template file from a zone file; needs no network and no tokens. Exits with 1 if there is such a file. */
export const importZone = async (names: readonly string[], options: Options, io: Io): Promise<number> => {
  const { zone: file } = options;
  if (typeof file !== 'string') throw new ArgumentError('--origin goes with --zone');
  const origin = originFrom(options['origin'], '--zone');
  if (names.length > 1) throw new ArgumentError('--zone makes one template: give one name');
  const settings = readOffline(options, io);
  const client = onlyOne(settings.clients, ({ name }) => name);
  const redact = redactor(settings.allSecrets());
  const text = await textOf(file, io);
  // Messages would quote it.
  if (redact(text) !== text)
    throw new UserError(`${file} contains a token of this program, which belongs in no zone`);
  const { records, whyNot, notes } = readZone(text, origin, file);
  const template = {
    id: 0,
    name: names[0] ?? origin,
    publiclyAvailable: false,
    subdomains: null,
    records: records.map((record) => ({ ...record, ttl: record.ttl === 1 ? null : record.ttl })),
  };
  const label = { ...labelsOf([template]).get(template)!, id: null };
  const target = await importTarget(client, options, (value) => redactTexts(value, redact));
  const outcome = await importTemplate(template, label, target, {
    subdomains: origin.split('.').every(isHostLabel) ? [origin] : [],
    noun: 'line',
    whyNot: ({ record }) => whyNot.get(record.id) ?? null,
  });
  const automatic = records.find(({ ttl }) => ttl === 1);
  const told = [
    ...(automatic ? [`line ${automatic.id}: ${automaticTtl}`] : []),
    ...notes,
    ...(outcome.remarks ?? []).map((remark) => `left out: ${remark}`),
  ];
  for (const note of told) printLine(io, `${file}: ${note}`);
  return showOutcomes([outcome], io);
};

const automaticTtl = 'a TTL of 1 means "automatic" at Cloudflare, so that entries like this one state none';

const textOf = async (file: string, { stdin, cwd }: Io): Promise<string> => {
  try {
    const bytes =
      file === '-' ? await buffer(stdin) : readRegularFileSync(path.resolve(cwd, file), maxFileSize);
    // PowerShell writes what a program prints like that.
    if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
    if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
    // Octets of another encoding, as a zone file can also write them (RFC 1035 §5.1).
    return bytes.toString('latin1').replaceAll(/[\x80-\xff]/g, (octet) => `\\${octet.charCodeAt(0)}`);
  } catch (error) {
    throw new UserError(`--zone ${file}: ${codeOf(error)}`, { cause: error });
  }
};
