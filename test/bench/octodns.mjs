// octoDNS, where it is installed, beside the program: the same records, one zone for each template. Its target is an
// empty directory, which answers at once and gives it no records to build and to compare, while the program reads a
// listing of as many records over HTTP and compares them. So octoDNS is shown at its best.
import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { templateName } from './records.mjs';

/** `octodns-sync` on the PATH, or what OCTODNS_SYNC names. */
const command = process.env.OCTODNS_SYNC ?? 'octodns-sync';

/** Writes its files to a directory, and gives what plans them. Null where octoDNS is not installed. */
export const octodnsPlan = async (dir, templates, records) => {
  if (spawnSync(command, ['--help']).status !== 0) return null;
  const [source, empty] = [path.join(dir, 'zones'), path.join(dir, 'nothing')];
  for (const each of [source, empty]) await mkdir(each, { recursive: true });
  const text = records.map(entryOf).join('');
  const zones = Array.from({ length: templates }, (_, index) => `${templateName(index)}.example.`);
  for (const zone of zones) await writeFile(path.join(source, `${zone}yaml`), text);
  const config = path.join(dir, 'octodns.json');
  await writeFile(config, JSON.stringify(configOf(source, empty, zones)));
  return { program: command, args: ['--quiet', '--config-file', config] };
};

const configOf = (source, empty, zones) => {
  const provider = (directory) => ({
    class: 'octodns.provider.yaml.YamlProvider',
    directory,
    // All of these save it time.
    enforce_order: false,
    escaped_semicolons: false,
    supports_root_ns: false,
  });
  return {
    manager: { plan_outputs: { logger: { class: 'octodns.provider.plan.PlanLogger', level: 'debug' } } },
    providers: { files: provider(source), service: provider(empty) },
    zones: Object.fromEntries(zones.map((zone) => [zone, { sources: ['files'], targets: ['service'] }])),
  };
};

const entryOf = ({ type, name, content, priority }) =>
  `${name}: {type: ${type}, value: ${valueOf(type, content, priority)}}\n`;

const valueOf = (type, content, priority) => {
  switch (type) {
    case 'CNAME':
      return `${content}.`;
    case 'MX':
      return `{preference: ${priority}, exchange: ${content}.}`;
    case 'SRV': {
      const [weight, port, target] = content.split(' ');
      return `{priority: ${priority}, weight: ${weight}, port: ${port}, target: ${target}.}`;
    }
    default:
      return `"${content}"`;
  }
};
