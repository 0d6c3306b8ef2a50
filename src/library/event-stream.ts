/** Gives each of its readers all values that come after it began to read. */
export class EventStream<T> implements AsyncIterable<T> {
  readonly #readers = new Set<StreamReader<T>>();
  #hasEnded = false;

  push(value: T): void {
    for (const reader of this.#readers) reader.push(value);
  }

  end(): void {
    this.#hasEnded = true;
    for (const reader of this.#readers) reader.end();
    this.#readers.clear();
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    const reader = new StreamReader<T>((one) => this.#readers.delete(one));
    if (this.#hasEnded) reader.end();
    else this.#readers.add(reader);
    return reader;
  }
}

class StreamReader<T> implements AsyncIterator<T> {
  readonly #values: T[] = [];
  readonly #waiting: ((result: IteratorResult<T>) => void)[] = [];
  readonly #leave: (reader: StreamReader<T>) => void;
  #hasEnded = false;

  constructor(leave: (reader: StreamReader<T>) => void) {
    this.#leave = leave;
  }

  push(value: T): void {
    const next = this.#waiting.shift();
    if (next) return next({ value, done: false });
    this.#values.push(value);
    // A loop that is stuck must not fill the memory.
    if (this.#values.length > mostUnread) this.#values.shift();
  }

  end(): void {
    this.#hasEnded = true;
    for (const next of this.#waiting.splice(0)) next(over);
  }

  next(): Promise<IteratorResult<T>> {
    const [value] = this.#values.splice(0, 1);
    if (value !== undefined) return Promise.resolve({ value, done: false });
    return this.#hasEnded ? Promise.resolve(over) : new Promise((resolve) => this.#waiting.push(resolve));
  }

  return(): Promise<IteratorResult<T>> {
    this.#leave(this);
    this.#values.length = 0;
    this.end();
    return Promise.resolve(over);
  }
}

const mostUnread = 10_000;

const over = { value: undefined, done: true } as const;
