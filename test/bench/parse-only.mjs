// What no program that reads these files and this listing can do without, in a fresh process: told on fd 3.
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const [folder, url] = process.argv.slice(2);
const texts = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => readFileSync(path.join(folder, name), 'utf8'));
const body = await (await fetch(`${url}/dns_templates`)).text();

const started = performance.now();
for (const text of texts) parse(text);
const between = performance.now();
JSON.parse(body);
const ended = performance.now();
writeSync(3, JSON.stringify({ yaml: between - started, json: ended - between }));
process.exit();
