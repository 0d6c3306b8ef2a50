import { quote } from '../../desired/problem.ts';
import { UserError } from '../../errors.ts';
import { unescapedName } from '../../model/host.ts';
import { isRecordType, type ActualRecord } from '../../model/record.ts';
import { definitionOf } from '../../model/types/table.ts';
import { maxTtl } from '../entry.ts';
import { isUnstatable, isWholeName, readData } from './data.ts';
import { zoneEntries, ZoneMistake, type ZoneEntry } from './entries.ts';

export interface ZoneFile {
  /** With names relative to the zone, as far as they are below it; their ids are their line numbers. */
  readonly records: readonly ActualRecord[];
  /** Why a record is not to be in a template, by its line. */
  readonly whyNot: ReadonlyMap<number, string>;
  /** What was read otherwise than it is written. */
  readonly notes: readonly string[];
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
    const { records, whyNot } = zone;
    if (records.length === 0) throw new ZoneMistake('there is no record in it');
    if (records.every(({ id, type }) => whyNot.has(id) || !isRecordType(type))) {
      const [[line, why] = []] = whyNot;
      throw new ZoneMistake(
        `no record in it can be in a template${line === undefined ? '' : `: line ${line} ${why}`}`,
      );
    }
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
  return zone;
};

/** What is known while entries are read one after the other. */
class Zone implements ZoneFile {
  readonly records: ActualRecord[] = [];
  readonly whyNot = new Map<number, string>();
  readonly notes: string[] = [];
  readonly #origin: string;
  /** What relative names end in. */
  #suffix: string;
  #line = 0;
  #owner: string | null = null;
  /** Of `$TTL`. */
  #defaultTtl: number | null = null;
  #lastTtl: number | null = null;
  /** Kinds of records. */
  readonly #met = new Set<string>();

  constructor(origin: string) {
    this.#origin = origin;
    this.#suffix = `${origin}.`;
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
    const owner = this.#owner;
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
    // One record of DNSSEC is named. A transfer ends with the SOA record that it begins with.
    const kind = signatureTypes.has(type) ? 'DNSSEC' : type;
    if ((kind === 'DNSSEC' || kind === 'SOA') && this.#met.has(kind)) return;
    this.#met.add(kind);
    const read = this.#recordOf(owner, type, data);
    if (typeof read === 'string') this.whyNot.set(this.#line, read);
    this.records.push({
      id: this.#line,
      type,
      name: this.#nameOf(owner),
      ttl: ttl ?? this.#defaultTtl ?? this.#lastTtl,
      ...(typeof read === 'string'
        ? { content: data.map(({ text }) => text).join(' '), priority: null }
        : read),
    });
  }

  #meetSoa(owner: string, ttl: number | null, minimum: string): void {
    if (owner.toLowerCase() !== `${this.#origin}.`)
      throw new ZoneMistake(`this is the zone ${owner.slice(0, -1) || owner}, not ${this.#origin}`);
    // As before RFC 2308, its last number is the TTL of records without one, if it has none itself.
    if (ttl === null && ttlPattern.test(minimum)) this.#defaultTtl ??= secondsIn(minimum);
  }

  /** What a record says, or why it is not to be in a template. */
  #recordOf(owner: string, type: string, data: ZoneEntry['words']): ReturnType<typeof readData> {
    if (!`.${owner.toLowerCase()}`.endsWith(`.${this.#origin}.`)) return `is not below ${this.#origin}`;
    if (signatureTypes.has(type)) return 'is one of DNSSEC, and the name server makes all of them';
    const name = this.#nameOf(owner);
    if (isUnstatable(name ?? '')) return 'has a name that a template cannot state';
    if (name === null && (definitionOf(type)?.name ?? 'optional') !== 'optional')
      return type === 'CNAME'
        ? 'cannot stand beside SOA and NS records'
        : 'has no name, which it needs at the service';
    return readData(type, data, (host) => this.#wholeName(host));
  }

  /** Relative to the zone if it is below it; null: the zone itself. */
  #nameOf(owner: string): string | null {
    const end = `.${this.#origin}.`;
    const lower = `.${owner.toLowerCase()}`;
    if (lower === end) return null;
    return lower.endsWith(end) ? unescapedName(owner.slice(0, -end.length)) : owner;
  }

  /** A relative name that ends in that of the zone only lacks its final dot: nobody means example.net.example.net. */
  #wholeName(name: string): string {
    if (name === '@') return this.#suffix;
    if (/(?:^|[^\\])(?:\\\\)*\.$/.test(name)) return name;
    if (this.#suffix === '.') return `${name}.`;
    if (!`.${name.toLowerCase()}`.endsWith(`.${this.#origin}`)) return `${name}.${this.#suffix}`;
    this.notes.push(`line ${this.#line}: ${quote(name)} has no final dot, and is read as a whole name`);
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
