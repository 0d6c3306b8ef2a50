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
  /** What a template cannot hold: name, type and value, and why not. */
  readonly leftOut: readonly (ZoneNote & { readonly what: string })[];
  /** What was read otherwise than it is written. */
  readonly notes: readonly ZoneNote[];
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
    const failed = trouble.exec(text);
    if (failed)
      throw new ZoneMistake(
        `the transfer failed, so records are missing: ${quote(failed[0])}`,
        text.slice(0, failed.index).split(/\r\n?|\n/).length,
      );
    const entries = zoneEntries(text);
    const zone = recordsIn(entries, origin);
    const [none] = zone.leftOut;
    if (zone.records.length === 0)
      throw none
        ? new ZoneMistake(`no record can be in a template: ${none.what}: ${none.text}`, none.line)
        : new ZoneMistake('there is no record in it');
    // A whole transfer begins and ends with the SOA record (RFC 5936 §2.2).
    const isSoa = ({ words }: ZoneEntry): boolean => words.slice(1, 4).some((word) => word.text === 'SOA');
    const [first, last] = [entries[0]!, entries.at(-1)!];
    if (transfer.test(text) && (first === last || !isSoa(first) || !isSoa(last)))
      throw new ZoneMistake(
        'the transfer does not end with the SOA record that it begins with, so records are missing',
        last.line,
      );
    return zone;
  } catch (error) {
    if (!(error instanceof ZoneMistake)) throw error;
    const place = error.line === null ? file : `${file}:${error.line}`;
    throw new UserError(`${place}: ${error.message}`, { cause: error });
  }
};

const transfer = /^; <<>> DiG .*\baxfr\b|^;; (?:XFR size|AXFR for)\b/im;

/** `dig` and its kin print what has come, and this below or between. */
const trouble =
  /^(?:; *transfer failed|;; *(?:communications error|connection (?:timed out|to \S+ .*failed)|no servers could be reached|got bad packet|couldn't|error:|.*\bstatus: (?!NOERROR)[A-Z]+)).*/im;

/** What entries say. Throws a `ZoneMistake`. */
export const recordsIn = (entries: readonly ZoneEntry[], origin: string): ZoneFile => {
  const zone = new Zone(origin);
  for (const entry of entries)
    try {
      zone.read(entry);
    } catch (error) {
      if (error instanceof ZoneMistake) error.line = entry.line;
      throw error;
    }
  return zone.whole();
};

/** What is known while entries are read one after the other. */
class Zone {
  readonly #origin: string;
  /** What relative names end in. */
  #suffix: string;
  #line = 0;
  #owner: string | null = null;
  /** Of `$TTL`. */
  #defaultTtl: number | null = null;
  #lastTtl: number | null = null;
  #hasSoa = false;
  readonly #records = new Map<string, ActualRecord>();
  readonly #leftOut: ZoneFile['leftOut'][number][] = [];
  readonly #notes: ZoneNote[] = [];
  /** Made by the name server. */
  readonly #signatures: { readonly line: number; readonly type: string }[] = [];

  constructor(origin: string) {
    this.#origin = origin;
    this.#suffix = `${origin}.`;
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

  read({ line, isIndented, words }: ZoneEntry): void {
    this.#line = line;
    const [first, second] = words.map(({ text }) => text);
    if (isIndented) this.#readRecord(words);
    else if (first!.startsWith('$')) this.#follow(first!, second);
    else {
      this.#owner = this.#wholeName(first!);
      this.#readRecord(words.slice(1));
    }
  }

  #follow(directive: string, value: string | undefined): void {
    const name = directive.toUpperCase();
    if (name === '$ORIGIN' && value !== undefined) this.#suffix = this.#wholeName(value);
    else if (name === '$TTL' && value !== undefined) this.#defaultTtl = secondsIn(value);
    else
      throw new ZoneMistake(
        `${quote(directive)} cannot be followed here: named-compilezone -k ignore -s full -o FLAT ${this.#origin} FILE writes the same zone without it`,
      );
  }

  #readRecord(words: ZoneEntry['words']): void {
    const [line, owner] = [this.#line, this.#owner];
    if (owner === null) throw new ZoneMistake('it begins with a blank, and no name comes before it');
    if (!isWholeName(owner)) throw new ZoneMistake(`${quote(owner)} is not a name`);
    // Windows states the age of records that are updated dynamically.
    const start = words.findIndex(
      ({ text }) => !/^(?:IN|\[AGE:\d+\])$/i.test(text) && !ttlPattern.test(text),
    );
    const [word, ...data] = start < 0 ? [] : words.slice(start);
    const ttlWord = words.slice(0, start).find(({ text }) => ttlPattern.test(text));
    const ttl = ttlWord ? secondsIn(ttlWord.text) : null;
    const type = word?.text.toUpperCase() ?? '';
    if (!/^[A-Z][A-Z0-9-]*$/.test(type))
      throw new ZoneMistake(word ? `${quote(word.text)} is not the type of a record` : 'it has no type');
    if (type === 'SOA') this.#meetSoa(owner, ttl, data.at(-1)?.text ?? '');
    this.#lastTtl = ttl ?? this.#lastTtl;
    const why = this.#addRecord(owner, type, ttl ?? this.#defaultTtl ?? this.#lastTtl, data);
    if (why === null) return;
    const value = data.map(({ text }) => text).join(' ');
    this.#leftOut.push({ line, what: `${owner} ${type} ${value}`, text: why });
  }

  #meetSoa(owner: string, ttl: number | null, minimum: string): void {
    if (owner.toLowerCase() !== `${this.#origin}.`)
      throw new ZoneMistake(`this is the zone ${owner.slice(0, -1) || owner}, not ${this.#origin}`);
    // As before RFC 2308, its last number is the TTL of records without one, if it has none itself.
    if (ttl === null && ttlPattern.test(minimum)) this.#defaultTtl ??= secondsIn(minimum);
  }

  /** Returns why no template can hold it, or null. */
  #addRecord(owner: string, type: string, ttl: number | null, data: ZoneEntry['words']): string | null {
    const end = `.${this.#origin}.`;
    if (!`.${owner.toLowerCase()}`.endsWith(end)) return `it is not below ${this.#origin}`;
    const name = owner.length < end.length ? null : unescapedName(owner.slice(0, -end.length));
    if (signatureTypes.has(type)) {
      this.#signatures.push({ line: this.#line, type });
      return null;
    }
    // At the end of a transfer.
    if (type === 'SOA' && this.#hasSoa) return null;
    this.#hasSoa ||= type === 'SOA';
    if (!isRecordType(type)) return `templates have no records of type ${type}`;
    if (isUnstatable(name ?? '')) return 'a template cannot state its name';
    if (isParkedName(name?.toLowerCase() ?? '')) return 'it has the name of a parked record';
    if (name === null && definitionOf(type).name !== 'optional')
      return type === 'CNAME'
        ? 'it cannot stand beside SOA and NS records'
        : `a ${type} record needs a name at the service`;
    const read = readData(type, data, (host) => this.#wholeName(host));
    if (typeof read === 'string') return read;
    const record = { id: this.#line, type, name, ttl, ...read };
    const key = recordKey(entryOf(record));
    const twin = this.#records.get(key);
    if (twin) return `it is the record of line ${twin.id} again`;
    this.#records.set(key, record);
    return null;
  }

  /** A relative name that ends in that of the zone only lacks its final dot: nobody means example.net.example.net. */
  #wholeName(name: string): string {
    if (name === '@') return this.#suffix;
    if (/(?:^|[^\\])(?:\\\\)*\.$/.test(name)) return name;
    if (this.#suffix === '.') return `${name}.`;
    if (!`.${name.toLowerCase()}`.endsWith(`.${this.#origin}`)) return `${name}.${this.#suffix}`;
    const text = `${quote(name)} has no final dot, and is read as a whole name`;
    this.#notes.push({ line: this.#line, text });
    return `${name}.`;
  }
}

const ttlPattern = /^(?=\d)(?:\d+[smhdw])*\d*$/i;

/** What a server that signs makes of a zone, and unmakes. */
const signatureTypes: ReadonlySet<string> = new Set(
  'RRSIG SIG NSEC NXT NSEC3 NSEC3PARAM DNSKEY KEY CDS CDNSKEY TYPE65534'.split(' '),
);

/** With the units of BIND: `1h30m`. */
const secondsIn = (text: string): number => {
  const seconds = [...text.matchAll(/(\d+)([mhdw]?)/gi)].reduce(
    (sum, [, count, unit = '']) => sum + Number(count) * (unitSeconds[unit.toLowerCase()] ?? 1),
    0,
  );
  if (!ttlPattern.test(text) || seconds > maxTtl) throw new ZoneMistake(`${quote(text)} is not a TTL`);
  return seconds;
};

const unitSeconds: Readonly<Record<string, number>> = { m: 60, h: 3_600, d: 86_400, w: 604_800 };
