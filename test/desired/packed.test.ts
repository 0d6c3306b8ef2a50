import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTemplateLoader } from '../../src/desired/load.ts';
import { packState, unpackState } from '../../src/desired/packed.ts';
import { directoryWith, options, write } from './load-files.ts';

const template = (name: string, content: string): string =>
  `template: ${name}\ninclude: [_f.yaml]\nrecords:\n  - {type: TXT, name: own, content: ${content}}\n`;

test('what a thread made of files is the same in another one, and what has not changed the same object', async () => {
  const directory = await directoryWith({
    '_f.yaml': 'records:\n  - {type: MX, content: mx.example.net, priority: 10, ttl: 5m}\n',
    'a.yaml': template('a', 'x'),
    'b.yaml': template('b', 'x'),
    'c.yaml': 'template: c\nrecords: [{type: A}]\n',
  });
  const loader = createTemplateLoader();
  const load = () => loader.load({ ...options, paths: [directory] });
  const state = await load();
  const first = await unpackState(packState(state, null), null, setImmediate);
  expect(first).toEqual(state);
  await write(directory, { 'b.yaml': template('b', 'y') });
  const changed = await load();
  const second = await unpackState(packState(changed, state), first, setImmediate);
  expect(second).toEqual(changed);
  expect(second.templates[0]).toBe(first.templates[0]);
  expect(second.templates[1]).not.toBe(first.templates[1]);
});
