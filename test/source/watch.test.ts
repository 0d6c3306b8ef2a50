import { randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openTemplateSource } from '../../src/source/template-source.ts';
import { restAfter, watchFiles, type Watcher } from '../../src/source/watch.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { DesiredState } from '../../src/model/template.ts';
import { listeningLogger } from '../daemon/listening-logger.ts';
import { pointBelow, ways, writeBelow } from '../daemon/ways.ts';
import { options as loadOptions } from '../desired/load-files.ts';

const never = 3_600_000;
let home: string;
let watcher: Watcher | undefined;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'watch-'));
});
afterEach(async () => {
  await watcher?.close();
  await rm(home, { recursive: true });
});

const at = (...names: string[]): string => path.join(home, ...names);

/** A template file that differs in this. */
const saying = (content: string, template = 'a.yaml'): string =>
  `template: ${template}\nrecords:\n  - {type: TXT, content: ${content}}\n`;

const write = (file: string, content: string = randomUUID()): Promise<void> =>
  writeBelow(home, file, saying(content, path.basename(file)));

const point = (link: string, target: string): Promise<void> => pointBelow(home, link, target);

/** Watches, and lets the test await each call: `next` resolves with the content that was loaded then. */
const watching = async (options: { paths: string[]; read: string; poll?: number; quiet?: number }) => {
  const { log } = listeningLogger();
  const contents: (string | null)[] = [];
  let onChanged: (() => void) | undefined;
  const paths = options.paths.map((name) => at(name));
  // A minute ahead: what there is already is no new upload.
  const clock = { ...systemClock, now: () => Date.now() + 60_000 };
  // What waits is looked at again without an event.
  const waits = options.poll !== never;
  const templates = openTemplateSource({ ...loadOptions, paths }, { waits, clock });
  await templates.load();
  watcher = watchFiles({
    paths,
    look: templates.look,
    quiet: options.quiet ?? 20,
    poll: options.poll ?? 30,
    log,
    onChange: () =>
      void templates.load().then((state) => {
        contents.push(contentIn(state, at(options.read)));
        return onChanged?.();
      }),
  });
  let seen = 0;
  const next = async (): Promise<string | null> => {
    while (contents.length <= seen) await new Promise<void>((resolve) => (onChanged = resolve));
    seen = contents.length;
    return contents.at(-1) ?? null;
  };
  /** Goes on to the call that came upon this content; never ends without one. */
  const until = async (content: string | null): Promise<string | null> => {
    for (;;) {
      const found = await next();
      if (found === content) return found;
    }
  };
  return { contents, until };
};

/** What the template file says, by whatever path it was found. */
const contentIn = ({ templates }: DesiredState, file: string): string | null =>
  templates.find(({ source }) => realPathOf(source.file) === realPathOf(file))?.records[0]?.content ?? null;

const realPathOf = (file: string): string | null => {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
};

describe.each(ways)('$name', ({ root, read, prepare, change }) => {
  it('is noticed, one after the other', async () => {
    await prepare(home, saying('first'));
    const { until } = await watching({ paths: [root], read });
    for (const content of ['second', 'third', 'fourth']) {
      await change(home, saying(content));
      expect(await until(content)).toBe(content);
    }
  });

  it('is noticed by events alone', async () => {
    await prepare(home, saying('first'));
    const { contents } = await watching({ paths: [root], read, poll: never });
    for (const content of ['second', 'third']) {
      // Events are lost until the system's watches stand, of which nothing tells.
      await vi.waitFor(
        async () => {
          if (!contents.includes(content)) await change(home, saying(content));
          expect(contents).toContain(content);
        },
        { timeout: 10_000, interval: 100 },
      );
    }
  });
});

describe('a watcher', () => {
  it('makes at most three calls of 100 events in two seconds, the last with the last content', async () => {
    await write('root/a.yaml');
    const { contents, until } = await watching({
      paths: ['root'],
      read: 'root/a.yaml',
      quiet: 200,
      poll: 2_000,
    });
    // Where the machine is busy, the burst has gaps that are as long as the quiet that ends it.
    let gaps = 0;
    for (let event = 1; event <= 100; event += 1) {
      const startedAt = performance.now();
      await write('root/a.yaml', `event ${event}`);
      await delay(20);
      if (performance.now() - startedAt > 100) gaps += 1;
    }
    await until('event 100');
    expect(contents.length).toBeLessThanOrEqual(3 + gaps);
    const before = contents.length;
    await write('root/a.yaml', 'one more');
    expect(await until('one more')).toBe('one more');
    expect(contents).toHaveLength(before + 1);
  });

  it('makes calls although events never end', async () => {
    await write('root/a.yaml');
    const { contents } = await watching({ paths: ['root'], read: 'root/a.yaml', quiet: 200, poll: 2_000 });
    for (let event = 1; contents.length === 0; event += 1) {
      await write('root/a.yaml', `event ${event}`);
      await delay(10);
    }
    expect(contents).toHaveLength(1);
  });

  it('waits for a root that is not there yet, and notices when one goes', async () => {
    const { until } = await watching({ paths: ['late/root', 'other'], read: 'late/root/a.yaml' });
    await write('late/root/a.yaml', 'there');
    expect(await until('there')).toBe('there');
    await rm(at('late'), { recursive: true });
    expect(await until(null)).toBe(null);
    await write('late/root/a.yaml', 'again');
    expect(await until('again')).toBe('again');
  });

  it('follows links inside the root, and no circle of links', async () => {
    await write('root/.store/deep/b.yaml', 'first');
    await symlink(at('root/.store'), at('root/link'));
    // Followed to where the system ends it, two circles are some 2^40 paths.
    await symlink(at('root'), at('root/.store/circle'));
    await symlink(at('root'), at('root/.store/round'));
    await symlink(at('root/.nowhere'), at('root/dangling.yaml'));
    const { until } = await watching({ paths: ['root'], read: 'root/.store/deep/b.yaml' });
    await write('root/.store/deep/b.yaml', 'second');
    expect(await until('second')).toBe('second');
    await write('root/.nowhere', 'found');
    expect(await until('second')).toBe('second');
  });

  it('gets events of the tree that a link now points to', async () => {
    await write('git/first/a.yaml');
    await write('git/second/a.yaml', 'second');
    await symlink('first', at('git/current'));
    const { contents } = await watching({ paths: ['git/current'], read: 'git/current/a.yaml', poll: never });
    const bring = (content: string, change: () => Promise<void>): Promise<void> =>
      vi.waitFor(
        async () => {
          await change();
          expect(contents).toContain(content);
        },
        { timeout: 10_000, interval: 100 },
      );
    await bring('second', () => point('git/current', 'second'));
    await bring('edited', () => write('git/second/a.yaml', 'edited'));
  });

  it('notices a file that is added, renamed or removed', async () => {
    await write('root/a.yaml', 'a');
    const { until } = await watching({ paths: ['root'], read: 'root/b.yaml' });
    await write('root/b.yaml', 'b');
    expect(await until('b')).toBe('b');
    await rename(at('root/b.yaml'), at('root/c.yaml'));
    expect(await until(null)).toBeNull();
    await rename(at('root/c.yaml'), at('root/b.yaml'));
    expect(await until('b')).toBe('b');
    await rm(at('root/b.yaml'));
    expect(await until(null)).toBeNull();
  });

  it('makes no call for hidden files', async () => {
    await write('root/a.yaml', 'first');
    const { contents, until } = await watching({ paths: ['root'], read: 'root/a.yaml' });
    await write('root/.a.yaml.swp');
    await write('root/.git/index');
    await write('root/a.yaml', 'second');
    expect(await until('second')).toBe('second');
    expect(contents).toEqual(['second']);
  });

  it('gets events below a hidden root', async () => {
    await write('.store/root/a.yaml', 'first');
    const { contents } = await watching({
      paths: ['.store/root'],
      read: '.store/root/a.yaml',
      poll: never,
    });
    await vi.waitFor(
      async () => {
        await write('.store/root/a.yaml', 'second');
        expect(contents).toContain('second');
      },
      { timeout: 10_000, interval: 100 },
    );
  });

  it('makes no call once it is closed', async () => {
    await write('root/a.yaml', 'first');
    const { contents } = await watching({ paths: ['root'], read: 'root/a.yaml' });
    await write('root/a.yaml', 'second');
    await watcher?.close();
    const { until } = await watching({ paths: ['root'], read: 'root/a.yaml' });
    await write('root/a.yaml', 'third');
    expect(await until('third')).toBe('third');
    expect(contents).not.toContain('third');
  });
});

it.each([
  ['a few files', 3, 1, 2_000],
  ['a thousand', 12, 1, 3_600],
  ['many thousands', 200, 1, 6_000],
  ['a slow file system', 5_000, 1, 50_000],
  ['a few files, by each of ten thousand watchers', 3, 10_000, 60_000],
])('rests between two scans of %s', (_, elapsed, watchers, rest) => {
  expect(restAfter(elapsed, 2_000, watchers)).toBe(rest);
});
