import { expect, test } from 'vitest';
import { createTemplateLoader } from '../../src/source/load.ts';
import { directoryWith, options } from '../desired/load-files.ts';

const template = (name: string): string => `template: ${name}\nrecords: []\n`;

test('a load ends between two templates at shutdown, and the next one starts again', async () => {
  const directory = await directoryWith({ 'a.yaml': template('a'), 'b.yaml': template('b') });
  const loader = createTemplateLoader();
  const given = { ...options, paths: [directory] };
  const stop = new AbortController();
  const loading = loader.load(given, stop.signal);
  stop.abort();
  await expect(loading).rejects.toThrow('cut short: this program is shutting down');
  expect((await loader.load(given)).templates).toHaveLength(2);
});

test('of two parallel loads, the second reuses what the first one read', async () => {
  const directory = await directoryWith({ 'a.yaml': template('a') });
  const loader = createTemplateLoader();
  const load = () => loader.load({ ...options, paths: [directory] });
  const [first, second] = await Promise.all([load(), load()]);
  expect(second.templates).toHaveLength(1);
  expect(second.templates[0]).toBe(first.templates[0]);
});
