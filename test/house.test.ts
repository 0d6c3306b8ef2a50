import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The rooms of the program, a folder or a file of `src` each, from the top down, and the rooms that each may import
 * from, for types too. What a room may import stands below it, so imports go one way only. Three things follow that are
 * easily lost: a pass is only a function to the daemon; files, service and state do not know each other; and the
 * embedded service shares no code with the client that is tested with it.
 */
const table = `
package.ts    index.ts load-program.ts
start.ts      load-program.ts version.ts
load-program.ts program.ts
program.ts    cli.ts commands app index.ts process-io.ts io.ts state
index.ts      library result.ts plan model report
library       process-io.ts app report log.ts settings.ts settings result.ts model errors.ts
process-io.ts io.ts lib
cli.ts        commands app io.ts version.ts lib errors.ts
commands      daemon app cluster notify report sandbox source import desired hosting answers network state
              io.ts settings.ts settings result.ts report-schema.ts plan model version.ts secrets.ts regular-file.ts lib
              errors.ts
daemon        app cluster notify status-page report source import log.ts settings.ts settings result.ts report-schema.ts model regular-file.ts lib errors.ts
app           cluster version.ts notify report sandbox reconcile source desired hosting answers state log.ts
              io.ts settings.ts settings result.ts plan model secrets.ts regular-file.ts lib errors.ts
cluster       notify status-page settings result.ts state model lib errors.ts
notify        report settings result.ts report-schema.ts plan network model state lib errors.ts
status-page   report result.ts model lib
report        result.ts report-schema.ts plan model lib
reconcile     hosting state result.ts plan model lib errors.ts
log.ts        log settings secrets.ts io.ts lib
log           io.ts lib
settings.ts   settings secrets.ts lib
settings      model secrets.ts regular-file.ts lib errors.ts
source        desired state model regular-file.ts lib errors.ts
import        desired plan model regular-file.ts lib errors.ts
desired       plan model lib errors.ts
hosting       network model secrets.ts lib errors.ts
answers       result.ts model lib
state         plan model lib errors.ts
result.ts     report-schema.ts plan model
report-schema.ts plan model lib
plan          model
network       model
model
sandbox       lib errors.ts
secrets.ts
version.ts
io.ts         lib
lib
regular-file.ts
errors.ts
`;

const house: ReadonlyMap<string, readonly string[]> = new Map(
  table
    .trim()
    .split(/\n(?! )/)
    .map((line) => line.split(/\s+/))
    .map(([room = '', ...mayImport]) => [room, mayImport]),
);

/** Rooms that compute, and the modules from elsewhere that they may do it with: no I/O, clock or logger. */
const pure: Readonly<Record<string, readonly string[]>> = {
  model: ['node:net', 'node:url'],
  plan: [],
  'result.ts': [],
  'report-schema.ts': ['zod'],
  desired: ['node:path', 'js-yaml', 'yaml', 'zod'],
  reconcile: ['node:crypto'],
  report: ['node:util'],
  'status-page': ['node:crypto'],
};

const roomOf = (file: string): string => file.split('/')[0] ?? '';

const importsIn = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*'([^']+)'/g)].map(([, from = '']) => from);

/** What the table does not allow, as sentences. Keys are paths below `src`. */
const strayImports = (sources: ReadonlyMap<string, string>): string[] => {
  return [...sources].flatMap(([file, text]) => {
    const room = roomOf(file);
    const rooms = house.get(room);
    if (rooms === undefined) return `${file}: the table has no room ${room}`;
    return importsIn(text).flatMap((from) => {
      if (!from.startsWith('.')) {
        const isStray = pure[room]?.includes(from) === false;
        return isStray ? `${file}: ${room} is to compute only, not to import ${from}` : [];
      }
      const other = roomOf(path.posix.join(path.posix.dirname(file), from));
      return other === room || rooms.includes(other) ? [] : `${file}: ${room} may not import ${from}`;
    });
  });
};

const sourcesOf = (directory: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file.split(path.sep).join('/'), readFileSync(path.join(directory, file), 'utf8')]),
  );

describe('the imports between the folders of src', () => {
  it('go only where the table allows, for types too', () => {
    const sources = sourcesOf('src');
    expect(sources.size).toBeGreaterThan(100);
    expect(strayImports(sources)).toEqual([]);
  });

  it('follow the order of the table', () => {
    const order = [...house.keys()];
    for (const [index, [room, mayImport]] of [...house].entries()) {
      const below = new Set(order.slice(index + 1));
      expect({ room, above: mayImport.filter((one) => !below.has(one)) }).toEqual({ room, above: [] });
    }
  });

  it.each([
    ['commands/run.ts', "import type { Options } from '../cli.ts';"],
    ['app/client.ts', "import { run } from '../commands/run.ts';"],
    ['plan/checks/one.ts', "let loop: import('../../daemon/passes/loop.ts').PassLoop;"],
    ['daemon/clients/client-manager.ts', "export * from '../../state/state-file.ts';"],
    ['desired/resolve-file.ts', "import {\n  connectHosting,\n} from '../hosting/service.ts';"],
    ['hosting/call-operation.ts', "import '../state/lock.ts';"],
    ['plan/plan.ts', "import { readFile } from 'node:fs/promises';"],
    ['desired/parse-file.ts', "import { readFile } from 'node:fs/promises';"],
    ['attic/box.ts', ''],
  ])('of this kind are found: in %s %s', (file, text) => {
    expect(strayImports(new Map([[file, text]]))).toHaveLength(1);
  });
});
