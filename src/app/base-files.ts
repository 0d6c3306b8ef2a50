import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { codeOf, UserError } from '../errors.ts';
import type { Io } from '../io.ts';
import { isBelow } from '../lib/is-below.ts';
import type { ClientSettings } from '../settings/client.ts';

/**
 * Where a directory has the earlier template files of each client: at the same places as the working directory, of which
 * it is another checkout; or it is a directory of template files.
 */
export const baseFiles = (
  directory: string,
  clients: readonly { readonly settings: ClientSettings }[],
  { cwd }: Pick<Io, 'cwd'>,
): ((client: ClientSettings) => readonly string[]) => {
  const root = path.resolve(cwd, directory);
  refuseUnlessDirectory(root, directory);
  /** What lies elsewhere is of no checkout, and the same before and after. */
  const filesOf = ({ templates }: ClientSettings): readonly string[] =>
    templates.map((one) => {
      const place = path.resolve(cwd, one);
      return isBelow(cwd, place) ? path.join(root, path.relative(cwd, place)) : place;
    });
  const isCheckout = clients.some(({ settings }) => filesOf(settings).some((one) => existsSync(one)));
  return isCheckout ? filesOf : () => [root];
};

const refuseUnlessDirectory = (root: string, name: string): void => {
  try {
    if (statSync(root).isDirectory()) return;
  } catch (error) {
    throw new UserError(`--base: cannot read ${name} (${codeOf(error)})`, { cause: error });
  }
  throw new UserError(`--base: ${name} is no directory: name one with the files of the base branch`);
};
