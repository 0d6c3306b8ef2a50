import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import { startZoneServer, type ZoneLine } from '../answers/zone-server.ts';
import { changed, withDerived, withSubdomain, withTemplate } from './changes.ts';
import { natureOf } from './natures.ts';
import { parseRecord, parseTime } from './records.ts';
import { save, type World } from './world.ts';

export type Input = (
  world: World,
  words: readonly string[],
  lines: readonly string[],
  rest: string,
) => unknown;

/** Steps that change something beside the program. */
export const inputs: Readonly<Record<string, Input>> = {
  service: ({ service }, [name = 'web', ...options], lines) =>
    service.change((data) => withTemplate(data, name, options, lines)),
  subdomain: ({ service }, [name = '', template = 'web']) =>
    service.change((data) => withSubdomain(data, name, template)),
  nature: ({ service }, _, __, words) => service.hasNature(natureOf(words)),
  next: ({ service }, _, faults, which) => service.next(which, faults),
  every: ({ service }, _, [fault = 'fine'], which) => service.every(which, fault),
  release: ({ service }) => service.release(),
  somebody: ({ service }, _, lines, rest) => {
    for (const line of lines.length > 0 ? lines : [rest])
      service.change((data) => {
        const [, name = data.templates[0]?.name ?? '', change = ''] = /^(?:in (\S+) )?(.*)$/.exec(line) ?? [];
        return data.subdomains.some((one) => one.name === name)
          ? withDerived(data, name, change)
          : changed(data, change, name);
      });
  },
  file: ({ folder }, [name = 'web'], lines) =>
    save(path.join(folder, 'templates', `${name}.yaml`), templateFile(path.basename(name), lines)),
  // In place, as an upload or an editor does.
  overwrite: ({ folder }, [name = 'web'], lines) =>
    writeFileSync(path.join(folder, 'templates', `${name}.yaml`), templateFile(name, lines)),
  text: ({ folder }, [name = ''], lines) => save(path.join(folder, name), `${lines.join('\n')}\n`),
  examples: ({ folder }) => cpSync('templates', path.join(folder, 'templates'), { recursive: true }),
  // The name server of a subdomain.
  nameserver: async ({ env, names, closing }, [apex = ''], lines) => {
    const zone = lines.map((line): ZoneLine => {
      const { name, type, content } = parseRecord(line);
      return [name === null ? apex : `${name}.${apex}`, type, content];
    });
    const server = await startZoneServer({ apex, lines: zone });
    closing.push(() => server.close());
    names.push([server.place, 'ns']);
    env['DNS_SYNC_NAMESERVERS'] = server.place;
  },
  // As some editors begin a file.
  mark: ({ folder }, [name = '']) =>
    save(path.join(folder, name), `\ufeff${readFileSync(path.join(folder, name), 'utf8')}`),
  remove: ({ folder }, [name = '']) => rmSync(path.join(folder, name), { recursive: true }),
  move: ({ folder }, [from = '', to = '']) => {
    mkdirSync(path.dirname(path.join(folder, to)), { recursive: true });
    renameSync(path.join(folder, from), path.join(folder, to));
  },
  link: ({ folder }, [name = '', target = '']) => {
    const link = path.join(folder, name);
    mkdirSync(path.dirname(link), { recursive: true });
    symlinkSync(target, `${link}~`);
    renameSync(`${link}~`, link);
  },
  copy: ({ folder }, [from = '', to = '']) => {
    rmSync(path.join(folder, to), { recursive: true, force: true });
    cpSync(path.join(folder, from), path.join(folder, to), { recursive: true });
  },
  env: ({ env }, words) => {
    for (const word of words) {
      const at = word.indexOf('=');
      if (at < 0) delete env[word];
      else env[word.slice(0, at)] = word.slice(at + 1);
    }
  },
  damage: ({ folder }, [name = '', ...how]) => damages[how.join(' ') || 'text']!(path.join(folder, name)),
  withdraw: ({ service }, [name = '']) =>
    service.change((data) => ({ ...data, templates: data.templates.filter((one) => one.name !== name) })),
  rename: ({ service }, [from = '', to = '']) =>
    service.change((data) => ({
      ...data,
      templates: data.templates.map((one) => (one.name === from ? { ...one, name: to } : one)),
    })),
  clients: (world, names) => {
    const { folder, env } = world;
    world.clients = names.length;
    const one = (name: string): string =>
      `  ${name}: {clientToken: {env: TOKEN_${name.toUpperCase()}}, templates: templates/${name}}\n`;
    save(path.join(folder, 'dns-template-sync.yaml'), `clients:\n${names.map(one).join('')}`);
    for (const name of names) env[`TOKEN_${name.toUpperCase()}`] = `token-${name}`;
    delete env['DNS_SYNC_CLIENT_TOKEN'];
  },
  'remove-line': ({ folder }, [name = '', text = '']) => {
    const file = path.join(folder, name);
    const lines = readFileSync(file, 'utf8').split('\n');
    save(file, lines.filter((line) => !line.includes(text)).join('\n'));
  },
  spell: ({ env, service }) => {
    env['DNS_SYNC_BASE_URL'] = `${service.url.replace('http:', 'HTTP:').replace('127.0.0.1', '127.1')}/`;
  },
  wait: ({ clock }, [time = '']) => clock.forward(parseTime(time)),
  hangup: ({ daemon }) => daemon?.signal('SIGHUP'),
  jump: ({ clock }, [time = '']) => clock.set(new Date(clock.now() + parseTime(time)).toISOString()),
};

/** A template file: keys as they are, and records in the short form. A key line is `key: value`, the others are records. */
const templateFile = (name: string, lines: readonly string[]): string => {
  const isKey = (line: string): boolean => /^[a-z]\w*: /.test(line);
  const keys = lines.filter(isKey);
  const hasName = keys.some((line) => /^(?:template|id): /.test(line));
  const records = lines.filter((line) => !isKey(line)).map(recordLine);
  return [
    ...(hasName || name.startsWith('_') ? [] : [`template: ${name}`]),
    ...keys,
    ...(records.length === 0 ? ['records: []'] : ['records:', ...records]),
    '',
  ].join('\n');
};

const recordLine = (line: string): string => {
  const { type, name, content, priority, ttl } = parseRecord(line);
  const values = [
    `type: ${type}`,
    ...(name === null ? [] : [`name: ${JSON.stringify(name)}`]),
    `content: ${JSON.stringify(content)}`,
    ...(priority === null ? [] : [`priority: ${priority}`]),
    ...(ttl === null ? [] : [`ttl: ${ttl}`]),
  ];
  return `  - {${values.join(', ')}}`;
};

/** What may befall a state file, by the words of a scenario. */
const damages: Readonly<Record<string, (file: string) => void>> = {
  text: (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    writeFileSync(file, 'no database');
  },
  zeroed: (file) => writeFileSync(file, whole(file).fill(0, 4_096, 12_288)),
  kept: (file) => writeFileSync(`${file}.kept`, whole(file)),
  'put back': (file) => {
    for (const end of ['-wal', '-shm']) rmSync(file + end, { force: true });
    renameSync(`${file}.kept`, file);
  },
  'with a long history': (file) =>
    withDatabase(
      file,
      `INSERT INTO history (scope, at, body)
       WITH RECURSIVE past (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM past WHERE n < 1000)
       SELECT scope, at - n, json_set(body, '$.at', at - n) FROM history, past`,
    ),
  'without its journal': (file) => rmSync(`${file}-wal`, { force: true }),
};

/** With nothing of it in its journal. */
const whole = (file: string): Buffer => {
  withDatabase(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  return readFileSync(file);
};

const withDatabase = (file: string, sql: string): void => {
  const database = new Database(file);
  database.exec(sql);
  database.close();
};
