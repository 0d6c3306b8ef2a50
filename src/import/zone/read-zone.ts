import { quote } from '../../desired/problem.ts';
import { UserError } from '../../errors.ts';
import { plural } from '../../lib/plural.ts';
import { unescapedName } from '../../model/host.ts';
import { isRecordType, type ActualRecord } from '../../model/record.ts';
import { definitionOf } from '../../model/types/table.ts';
import { entryOf, recordKey } from '../../plan/entry.ts';
import { isParkedName } from '../../plan/parked.ts';
import { maxTtl } from '../entry.ts';
import { isUnstatable, isWholeName, readData } from './data.ts';
import { zoneEntries, ZoneMistake, type ZoneEntry } from './entries.ts';

export interface ZoneFile {
  /** With names relative to the zone; their ids are their line numbers. */
  readonly records: readonly ActualRecord[];
  /** What a template cannot hold. */
  readonly leftOut: readonly LeftOut[];
  /** What was read otherwise than it is written. */
  readonly notes: readonly ZoneNote[];
}

export interface LeftOut extends ZoneNote {
  /** Name, type and value. */
  readonly what: string;
}

export interface ZoneNote {
  readonly line: number;
  readonly text: string;
}

/**
 * Reads a master file (RFC 1035 §5, RFC 2308 §4) or what `dig` prints of a transfer. `origin`: the name of the zone, in lower
 * case and without a final dot. `file` is for messages. Throws a UserError about the first line that is wrong.
 */
export const readZone = (text: string, origin: string, file: string): ZoneFile => {
  try {
    refuseTrouble(text);
    const entries = zoneEntries(text);
    const zone = recordsIn(entries, origin);
    const [none] = zone.leftOut;
    if (zone.records.length === 0)
      throw new ZoneMistake(
        none?.line ?? 0,
        none ? `no record can be in a template: ${none.what}: ${none.text}` : 'there is no record in it',
      );
    if (isTransfer(text)) refuseCut(entries);
    return zone;
  } catch (error) {
    if (!(error instanceof ZoneMistake)) throw error;
    const place = error.line === 0 ? file : `${file}:${error.line}`;
    throw new UserError(`${place}: ${error.message}`, { cause: error });
  }
};

/** What entries say. Throws a `ZoneMistake`. */
export const recordsIn = (entries: readonly ZoneEntry[], origin: string): ZoneFile => {
  const zone = new Zone(origin);
  for (const entry of entries) zone.read(entry);
  return zone.whole();
};

/** With `+onesoa`, only the last line says that it is whole. */
const isTransfer = (text: string): boolean =>
  /^; <<>> DiG .*\baxfr\b|^;; (?:XFR size|AXFR for)\b/im.test(text) &&
  !/^; <<>> DiG .*\+onesoa\b[^]*^;; XFR size\b/m.test(text);

/** `dig` and its kin print what has come, and this below or between. */
const trouble =
  /^(?:; *transfer failed|;; *(?:communications error|connection (?:timed out|to \S+ .*failed)|no servers could be reached|got bad packet|couldn't|error:|.*\bstatus: (?!NOERROR)[A-Z]+))/i;

const refuseTrouble = (text: string): void => {
  for (const [index, line] of text.split(/\r\n?|\n/).entries())
    if (trouble.test(line))
      throw new ZoneMistake(index + 1, `the transfer failed, so records are missing: ${quote(line)}`);
};

/** A whole transfer begins and ends with the SOA record (RFC 5936 §2.2). */
const refuseCut = (entries: readonly ZoneEntry[]): void => {
  const isSoa = ({ words }: ZoneEntry): boolean => words.slice(1, 4).some(({ text }) => text === 'SOA');
  const [first, last] = [entries[0]!, entries.at(-1)!];
  if (first === last || !isSoa(first) || !isSoa(last))
    throw new ZoneMistake(
      last.line,
      'the transfer does not end with the SOA record that it begins with, so records are missing',
    );
};

/** What is known while entries are read one after the other. */
class Zone {
  readonly #origin: string;
  /** What relative names end in. */
  #suffix: string;
  #owner: string | null = null;
  /** Names without their final dot in the entry that is read. */
  #dotless: string[] = [];
  /** Of `$TTL`. */
  #defaultTtl: number | null = null;
  #lastTtl: number | null = null;
  readonly #records = new Map<string, ActualRecord>();
  readonly #leftOut: LeftOut[] = [];
  readonly #notes: ZoneNote[] = [];
  /** Made by the name server: by their types, counted. */
  readonly #signatures: { line: number; type: string }[] = [];
  #hasSoa = false;

  constructor(origin: string) {
    this.#origin = origin;
    this.#suffix = `${origin}.`;
  }

  read(entry: ZoneEntry): void {
    const [first, second] = entry.words.map(({ text }) => text);
    if (!entry.isIndented && first?.startsWith('$') === true) this.#follow(entry.line, first, second);
    else this.#readRecord(entry);
  }

  whole(): ZoneFile {
    const [first] = this.#signatures;
    if (first) {
      const types = [...new Set(this.#signatures.map(({ type }) => type))].sort().join(', ');
      const what = `${plural(this.#signatures.length, 'record')} of DNSSEC (${types})`;
      this.#leftOut.push({ line: first.line, what, text: 'the name server makes them' });
    }
    return { records: [...this.#records.values()], leftOut: this.#leftOut, notes: this.#notes };
  }

  #follow(line: number, directive: string, value: string | undefined): void {
    const name = directive.toUpperCase();
    if (name === '$ORIGIN' && value !== undefined) this.#suffix = this.#wholeName(value);
    else if (name === '$TTL' && value !== undefined) this.#defaultTtl = secondsIn(value, line);
    else
      throw new ZoneMistake(
        line,
        `${quote(directive)} cannot be followed here: named-compilezone -k ignore -s full -o FLAT ${this.#origin} FILE writes the same zone without it`,
      );
  }

  #readRecord({ line, isIndented, words }: ZoneEntry): void {
    const rest = isIndented ? [...words] : words.slice(1);
    this.#dotless = [];
    if (!isIndented) this.#owner = this.#wholeName(words[0]!.text);
    const owner = this.#owner;
    if (owner === null) throw new ZoneMistake(line, 'it begins with a blank, and no name comes before it');
    if (!isWholeName(owner)) throw new ZoneMistake(line, `${quote(owner)} is not a name`);
    // That of Windows, for records that are updated dynamically.
    if (/^\[AGE:\d+\]$/i.test(rest[0]?.text ?? '')) rest.shift();
    let [ttl, dnsClass]: [number | null, string | null] = [null, null];
    for (let word = rest[0]?.text; word !== undefined; word = rest[0]?.text) {
      if (ttl === null && ttlPattern.test(word)) ttl = secondsIn(word, line);
      else if (dnsClass === null && classPattern.test(word)) dnsClass = word.toUpperCase();
      else break;
      rest.shift();
    }
    const [word, ...data] = rest;
    const type = word?.text.toUpperCase() ?? '';
    if (!/^[A-Z][A-Z0-9-]*$/.test(type))
      throw new ZoneMistake(
        line,
        word ? `${quote(word.text)} is not the type of a record` : 'it has no type',
      );
    if (type === 'SOA') this.#meetSoa(line, owner, ttl, data.at(-1)?.text ?? '');
    if (ttl !== null) this.#lastTtl = ttl;
    const leaveOut = (text: string): void => {
      const value = data.map((one) => one.text).join(' ');
      this.#leftOut.push({ line, what: `${owner} ${type} ${value}`, text });
    };
    if (dnsClass !== null && dnsClass !== 'IN') return leaveOut(`it is of class ${dnsClass}`);
    const name = this.#nameBelow(owner);
    if (name === undefined) return leaveOut(`it is not below ${this.#origin}`);
    if (type === 'SOA' && this.#hasSoa) return;
    this.#hasSoa ||= type === 'SOA';
    if (signatureTypes.has(type)) return void this.#signatures.push({ line, type });
    if (!isRecordType(type)) return leaveOut(`templates have no records of type ${type}`);
    if (isUnstatable(name ?? '')) return leaveOut('a template cannot state its name');
    if (isParkedName(name?.toLowerCase() ?? '')) return leaveOut('it has the name of a parked record');
    if (name === null && definitionOf(type).name !== 'optional')
      return leaveOut(
        type === 'CNAME'
          ? 'it cannot stand beside SOA and NS records'
          : `a ${type} record needs a name at the service`,
      );
    const read = readData(type, data, (host) => this.#wholeName(host));
    if ('mistake' in read) throw new ZoneMistake(line, read.mistake);
    if ('leftOut' in read) return leaveOut(read.leftOut);
    const record = { id: line, type, name, ttl: ttl ?? this.#defaultTtl ?? this.#lastTtl, ...read };
    const key = recordKey(entryOf(record));
    const twin = this.#records.get(key);
    if (twin) return leaveOut(`it is the record of line ${twin.id} again`);
    this.#records.set(key, record);
    for (const written of this.#dotless)
      this.#notes.push({ line, text: `${quote(written)} has no final dot, and is read as a whole name` });
  }

  #meetSoa(line: number, owner: string, ttl: number | null, minimum: string): void {
    if (owner.toLowerCase() !== `${this.#origin}.`)
      throw new ZoneMistake(line, `this is the zone ${owner.slice(0, -1) || owner}, not ${this.#origin}`);
    // As before RFC 2308, its last number is the TTL of records without one, if it has none itself.
    if (ttl === null && ttlPattern.test(minimum)) this.#defaultTtl ??= secondsIn(minimum, line);
  }

  /** A relative name that ends in that of the zone only lacks its final dot: nobody means example.net.example.net. */
  #wholeName(name: string): string {
    if (name === '@') return this.#suffix;
    if (/(?:^|[^\\])(?:\\\\)*\.$/.test(name)) return name;
    if (this.#suffix === '.') return `${name}.`;
    if (!`.${name.toLowerCase()}`.endsWith(`.${this.#origin}`)) return `${name}.${this.#suffix}`;
    this.#dotless.push(name);
    return `${name}.`;
  }

  /** Null: the zone itself; undefined: outside. */
  #nameBelow(owner: string): string | null | undefined {
    const lower = owner.toLowerCase();
    if (lower === `${this.#origin}.`) return null;
    return lower.endsWith(`.${this.#origin}.`)
      ? unescapedName(owner.slice(0, -this.#origin.length - 2))
      : undefined;
  }
}

const ttlPattern = /^(?=\d)(?:\d+[smhdw])*\d*$/i;
const classPattern = /^(?:IN|CH|CS|HS|ANY|NONE|CLASS\d+)$/i;

/** What a server that signs makes of a zone, and unmakes. */
const signatureTypes: ReadonlySet<string> = new Set(
  'RRSIG SIG NSEC NXT NSEC3 NSEC3PARAM DNSKEY KEY CDS CDNSKEY TYPE65534'.split(' '),
);

/** With the units of BIND: `1h30m`. */
const secondsIn = (text: string, line: number): number => {
  const seconds = [...text.matchAll(/(\d+)([smhdw]?)/gi)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit.toLowerCase()] ?? 1),
    0,
  );
  if (!ttlPattern.test(text) || seconds > maxTtl) throw new ZoneMistake(line, `${quote(text)} is not a TTL`);
  return seconds;
};

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };
