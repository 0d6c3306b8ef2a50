import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished } from 'vitest';
import { UserError } from '../../src/errors.ts';
import { readSettings, type Settings } from '../../src/settings.ts';

/** How settings are read in a test. `config`: what the settings file says. */
export interface Given extends Partial<Omit<Parameters<typeof readSettings>[0], 'env'>> {
  readonly env?: Record<string, string>;
  readonly config?: string;
}

/** A directory of its own for each test, and the settings that are read there. */
export const settingsPlace = () => {
  let cwd = '';
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(path.join(tmpdir(), 'settings-')));
    onTestFinished(() => rmSync(cwd, { recursive: true }));
  });
  const at = (...names: string[]): string => path.join(cwd, ...names);
  const write = (name: string, content: string | Buffer): void => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  };
  const read = ({ env = {}, config, ...more }: Given = {}): Settings => {
    if (config !== undefined) write('dns-template-sync.yaml', config);
    return readSettings({
      flags: {},
      env: { HOME: '/home/somebody', ...env },
      cwd,
      needsService: false,
      ...more,
    });
  };
  return {
    at,
    write,
    read,
    /** The one client. */
    client: (given?: Given): Settings['clients'][number] => {
      const { clients } = read(given);
      expect(clients).toHaveLength(1);
      return clients[0]!;
    },
    /** What the person is told, a line each, without the headline. */
    problemsOf: (given?: Given): string[] => {
      try {
        read(given);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        const [first = '', ...lines] = error.message.split('\n- ');
        return lines.length > 0 ? lines : [first];
      }
      return [];
    },
  };
};

export const namesIn = ({ clients }: Pick<Settings, 'clients'>): string[] => clients.map(({ name }) => name);
