import { describe, expect, it } from 'vitest';
import { sharedTexts } from '../../../src/daemon/http/shared-texts.ts';

/** A text of its key and how often it was made, each time as long as `work` takes. */
const counted = (work: () => Promise<void> | void = () => undefined) => {
  let key = 'a';
  let made = 0;
  const shared = sharedTexts({ key: () => [key], maxAge: Infinity });
  const text = () =>
    shared('text', async () => {
      made += 1;
      const shown = `${key}${made}`;
      await work();
      return shown;
    });
  return {
    ask: async () => new TextDecoder().decode(await text()),
    change: (next: string) => void (key = next),
    made: () => made,
  };
};

describe('a shared text', () => {
  it('is made once for all requests, until its content changes', async () => {
    const { ask, change } = counted();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(['a1', 'a1', 'a1']);
    expect(await ask()).toBe('a1');
    change('b');
    expect(await Promise.all([ask(), ask()])).toEqual(['b2', 'b2']);
  });

  it('is never older than the request', async () => {
    const ends: (() => void)[] = [];
    const { ask, change, made } = counted(() => new Promise<void>((resolve) => void ends.push(resolve)));
    const endOne = async (): Promise<void> => {
      while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
      ends.shift()?.();
    };
    const first = ask();
    await endOne();
    expect(await first).toBe('a1');
    change('b');
    const second = ask();
    while (made() < 2) await new Promise((resolve) => setImmediate(resolve));
    change('c');
    const [third, fourth] = [ask(), ask()];
    expect(made()).toBe(3);
    await endOne();
    await endOne();
    expect(await Promise.all([second, third, fourth])).toEqual(['b2', 'c3', 'c3']);
  });

  it('that could not be made is made again for the next request', async () => {
    let fails = true;
    const { ask } = counted(() => {
      if (fails) throw new Error('no');
    });
    const failed = await Promise.allSettled([ask(), ask()]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(await ask()).toBe('a2');
  });
});
