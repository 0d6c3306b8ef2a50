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

const realPathOf = (file: string): string | null => {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
};

/** Watches; `read`: the file whose content counts, by whatever path it is found. */
const watching = async (options: { paths: string[]; read: string; poll?: number; quiet?: number }) => {
  const { quiet = 20, poll = 30, read } = options;
  const contents: (string | null)[] = [];
  let onChanged: (() => void) | undefined;
  const paths = options.paths.map((name) => at(name));
  // A minute ahead: what there is already is no new upload.
  const clock = { ...systemClock, now: () => Date.now() + 60_000 };
  // What waits is looked at again without an event.
  const templates = openTemplateSource({ ...loadOptions, paths }, { waits: poll !== never, clock });
  await templates.load();
  const onChange = async (): Promise<void> => {
    const state = await templates.load();
    const found = state.templates.find(({ source }) => realPathOf(source.file) === realPathOf(at(read)));
    contents.push(found?.records[0]?.content ?? null);
    onChanged?.();
  };
  const { log } = listeningLogger();
  watcher = watchFiles({ paths, look: templates.look, quiet, poll, log, onChange: () => void onChange() });
  let seen = 0;
  return {
    /** What was loaded after each call. */
    contents,
    /** Goes on to the call that came upon this content; never ends without one. */
    until: async (content: string | null): Promise<void> => {
      for (;;) {
        while (contents.length <= seen) await new Promise<void>((resolve) => (onChanged = resolve));
        seen = contents.length;
        if (contents.at(-1) === content) return;
      }
    },
    /** Makes a change until it is noticed: events are lost until the system's watches stand, of which nothing tells. */
    bring: (content: string, change: () => Promise<void>): Promise<void> =>
      vi.waitFor(
        async () => {
          if (!contents.includes(content)) await change();
          expect(contents).toContain(content);
        },
        { timeout: 10_000, interval: 100 },
      ),
  };
};

describe.each(ways)('$name', ({ root, read, prepare, change }) => {
  it('is noticed, one after the other', async () => {
    await prepare(home, saying('first'));
    const { until } = await watching({ paths: [root], read });
    for (const content of ['second', 'third', 'fourth']) {
      await change(home, saying(content));
      await until(content);
    }
  });

  it('is noticed by events alone', async () => {
    await prepare(home, saying('first'));
    const { bring } = await watching({ paths: [root], read, poll: never });
    for (const content of ['second', 'third']) await bring(content, () => change(home, saying(content)));
  });
});

describe('a watcher', () => {
  const read = 'root/a.yaml';

  it('says that it cannot look, and looks again', async () => {
    const { log, lines } = listeningLogger();
    let looks = 0;
    const look = async () => {
      if ((looks += 1) === 1) throw new Error('too many open files');
      return { change: {}, directories: new Map<string, string>() };
    };
    await new Promise<void>((onChange) => {
      watcher = watchFiles({ paths: [home], look, quiet: 20, poll: 30, log, onChange });
    });
    expect(lines.map(({ event }) => event)).toEqual(['watch.error']);
  });

  it('makes at most three calls of 100 events in two seconds, the last with the last content', async () => {
    await write(read);
    const { contents, until } = await watching({ paths: ['root'], read, quiet: 200, poll: 2_000 });
    // Where the machine is busy, the burst has gaps that are as long as the quiet that ends it.
    let gaps = 0;
    for (let event = 1; event <= 100; event += 1) {
      const startedAt = performance.now();
      await write(read, `event ${event}`);
      await delay(20);
      if (performance.now() - startedAt > 100) gaps += 1;
    }
    await until('event 100');
    expect(contents.length).toBeLessThanOrEqual(3 + gaps);
    const before = contents.length;
    await write(read, 'one more');
    await until('one more');
    expect(contents).toHaveLength(before + 1);
  });

  it('makes calls although events never end', async () => {
    await write(read);
    const { contents } = await watching({ paths: ['root'], read, quiet: 200, poll: 2_000 });
    for (let event = 1; contents.length === 0; event += 1) {
      await write(read, `event ${event}`);
      await delay(10);
    }
    expect(contents).toHaveLength(1);
  });

  it('notices files and roots that come, go and are renamed', async () => {
    const { until } = await watching({ paths: ['late/root', 'other'], read: 'late/root/a.yaml' });
    await write('late/root/a.yaml', 'there');
    await until('there');
    await rename(at('late/root/a.yaml'), at('late/root/b.yaml'));
    await until(null);
    await rename(at('late/root/b.yaml'), at('late/root/a.yaml'));
    await until('there');
    await rm(at('late'), { recursive: true });
    await until(null);
    await write('late/root/a.yaml', 'again');
    await until('again');
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
    await until('second');
    await write('root/.nowhere', 'found');
    await until('second');
  });

  it('gets events of the tree that a link now points to', async () => {
    await write('git/first/a.yaml');
    await write('git/second/a.yaml', 'second');
    await symlink('first', at('git/current'));
    const { bring } = await watching({ paths: ['git/current'], read: 'git/current/a.yaml', poll: never });
    await bring('second', () => pointBelow(home, 'git/current', 'second'));
    await bring('edited', () => write('git/second/a.yaml', 'edited'));
  });

  it('gets events below a hidden root', async () => {
    await write('.store/root/a.yaml');
    const { bring } = await watching({ paths: ['.store/root'], read: '.store/root/a.yaml', poll: never });
    await bring('second', () => write('.store/root/a.yaml', 'second'));
  });

  it('makes no call for hidden files, and none once it is closed', async () => {
    await write(read, 'first');
    const { contents, until } = await watching({ paths: ['root'], read });
    await write('root/.a.yaml.swp');
    await write('root/.git/index');
    await write(read, 'second');
    await until('second');
    await write(read, 'third');
    await watcher?.close();
    const next = await watching({ paths: ['root'], read });
    await write(read, 'fourth');
    await next.until('fourth');
    expect(contents).toEqual(['second']);
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
