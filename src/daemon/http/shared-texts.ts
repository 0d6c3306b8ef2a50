import { sameElements } from '../../lib/same-elements.ts';

/** A text that may be long and may be requested often. */
export type Text = () => Promise<Uint8Array<ArrayBuffer>>;

interface SharedTexts {
  /** What the texts depend on: they stay valid while all of these are identical. */
  readonly key: () => readonly unknown[];
  /** Milliseconds after which a text is made again anyway. */
  readonly maxAge: number;
}

/** Texts by name, each made once for all who ask for it at one time, and again only after a change. */
export const sharedTexts = ({ key, maxAge }: SharedTexts) => {
  const kept = new Map<string, Made>();
  return (name: string, make: () => string | Promise<string>): ReturnType<Text> => {
    const known = kept.get(name);
    if (known && performance.now() - known.at < maxAge && sameElements(known.key, key())) return known.bytes;
    const made = { key: key(), at: performance.now(), bytes: bytesOf(make) };
    if (kept.size === maxKept) kept.clear();
    kept.set(name, made);
    // One that failed is made again.
    made.bytes.catch(() => kept.delete(name));
    return made.bytes;
  };
};

interface Made {
  readonly key: readonly unknown[];
  readonly at: number;
  readonly bytes: ReturnType<Text>;
}

const bytesOf = async (make: () => string | Promise<string>): ReturnType<Text> =>
  new TextEncoder().encode(await make());

const maxKept = 16;
