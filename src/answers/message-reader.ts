/**
 * Reads a DNS message from a server that may be hostile (RFC 1035 §4.1). Throws a `RangeError` for malformed
 * messages, and for those whose names take more work than those of true messages: 65,535 bytes can hold
 * thousands of names, each a chain of thousands of pointers.
 */
export class MessageReader {
  readonly #bytes: Buffer;
  #at = 0;
  #steps = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  number8(): number {
    return this.#bytes.readUInt8(this.#moved(1));
  }

  number16(): number {
    return this.#bytes.readUInt16BE(this.#moved(2));
  }

  number32(): number {
    return this.#bytes.readUInt32BE(this.#moved(4));
  }

  octets(length: number): Buffer {
    const start = this.#moved(length);
    if (this.#at > this.#bytes.length) throw new RangeError('the message is cut off');
    return this.#bytes.subarray(start, this.#at);
  }

  /** Reads the next octets as a part of their own, whose names may point to what comes before. */
  part<T>(length: number, read: (end: number) => T): T {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError('the message is cut off');
    const found = read(end);
    this.#at = end;
    return found;
  }

  isBefore(end: number): boolean {
    return this.#at < end;
  }

  /** In presentation format, without a final dot; `.` for the root. */
  name(): string {
    const labels: string[] = [];
    let [at, length] = [this.#at, 0];
    let end: number | null = null;
    for (;;) {
      this.#steps += 1;
      if (this.#steps > maxSteps) throw new RangeError('the names of the message take too much work');
      const size = this.#bytes.readUInt8(at);
      if (size === 0) break;
      if (size >= pointer) {
        const target = this.#bytes.readUInt16BE(at) & 0x3f_ff;
        if (target >= at) throw new RangeError('a pointer does not lead back');
        end ??= at + 2;
        at = target;
        continue;
      }
      length += size + 1;
      if (size > maxLabel || length > maxName) throw new RangeError('a name is too long');
      const text = this.#bytes.toString('latin1', at + 1, at + 1 + size);
      labels.push(isPlain.test(text) ? text : text.replaceAll(special, escaped));
      at += size + 1;
    }
    this.#at = end ?? at + 1;
    return labels.length === 0 ? '.' : labels.join('.');
  }

  #moved(length: number): number {
    const start = this.#at;
    this.#at += length;
    return start;
  }
}

/** Labels and pointers of one message: a reverse zone's 2,000 names of 34 labels take half of it. */
const maxSteps = 131_072;
const pointer = 0xc0;
const maxLabel = 63;
const maxName = 254;

const isPlain = /^[!-\-/-[\]-~]+$/;
const special = /[^!-~]|[.\\]/g;
const escaped = (character: string): string =>
  /[!-~]/.test(character) ? `\\${character}` : `\\${String(character.charCodeAt(0)).padStart(3, '0')}`;
