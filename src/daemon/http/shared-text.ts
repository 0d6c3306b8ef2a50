import { limit } from '../../lib/limit.ts';
import { sameElements } from '../../lib/same-elements.ts';
import { sleep } from '../../lib/sleep.ts';

interface SharedText {
  /** What the text depends on. The text stays valid while all of these are identical. */
  readonly key: () => readonly unknown[];
  readonly make: () => string | Promise<string>;
  /** Milliseconds after which the text is made again anyway. */
  readonly maxAge?: number;
  /** Limits the time spent on making it; several texts may share one. */
  readonly pace?: Pace;
}

export type Pace = <T>(task: () => Promise<T>) => Promise<T>;

/** Runs one task after the other, with breaks, so that they take at most a fifth of the time. */
export const pacer = (): Pace => {
  const oneAtATime = limit(1);
  let restsUntil = -Infinity;
  return (task) =>
    oneAtATime(async () => {
      const rest = restsUntil - performance.now();
      if (rest > 0) await sleep(rest);
      const started = performance.now();
      try {
        return await task();
      } finally {
        const ended = performance.now();
        restsUntil = ended + (ended - started) * restFactor;
      }
    });
};

/**
 * A text that any number of readers may request at any time: it is made once for all, and again only after a
 * change.
 */
export const sharedText = ({
  key,
  make,
  maxAge = Infinity,
  pace = pacer(),
}: SharedText): (() => Promise<Uint8Array<ArrayBuffer>>) => {
  let newest: Made | null = null;
  /** Has not begun yet, so it will show the current state. */
  let next: Promise<Uint8Array<ArrayBuffer>> | null = null;
  const begin = async (): Promise<Uint8Array<ArrayBuffer>> => {
    await newest?.bytes.catch(() => undefined);
    return pace(async () => {
      next = null;
      const made = { key: key(), at: performance.now(), bytes: bytesOf(make) };
      newest = made;
      try {
        return await made.bytes;
      } catch (error) {
        newest = null;
        throw error;
      }
    });
  };
  const holds = ({ key: previous, at }: Made): boolean =>
    performance.now() - at < maxAge && sameElements(previous, key());
  return () => (newest !== null && holds(newest) ? newest.bytes : (next ??= begin()));
};

interface Made {
  readonly key: readonly unknown[];
  readonly at: number;
  readonly bytes: Promise<Uint8Array<ArrayBuffer>>;
}

const restFactor = 4;

const encoder = new TextEncoder();

const bytesOf = async (make: SharedText['make']): Promise<Uint8Array<ArrayBuffer>> =>
  encoder.encode(await make());
