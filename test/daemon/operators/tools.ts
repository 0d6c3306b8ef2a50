import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Where `.ci/operator-tools.sh` has put what operators use, and the libraries of that. */
export const toolsIn = (folder: string): string => path.join(process.env['OPERATOR_TOOLS'] ?? '', folder);
const tools = toolsIn('usr');

/** For programs that call them by name. */
export const withTools = (): NodeJS.ProcessEnv => {
  const below = path.join(tools, 'lib');
  const libraries = readdirSync(below).flatMap((name) => [name, `${name}/systemd`]);
  const { PATH = '' } = process.env;
  return {
    PATH: `${path.join(tools, 'bin')}:${PATH}`,
    LD_LIBRARY_PATH: libraries.map((name) => path.join(below, name)).join(':'),
  };
};
