import type { Io } from '../io.ts';
import { readSettings, type Settings } from '../settings.ts';
import { saidOn } from './progress.ts';

/** The flags as the argument parser returns them; `settings` and the commands check the values. */
export type Options = Readonly<Record<string, string | boolean | string[] | undefined>>;

/** The settings of a command that needs neither service nor tokens. */
export const readOffline = (
  flags: Options,
  io: Pick<Io, 'env' | 'cwd' | 'stderr'>,
  { mayLeaveOut = false, isSilent = false } = {},
): Settings =>
  readSettings({
    flags,
    needsService: false,
    mayLeaveOut,
    env: io.env,
    cwd: io.cwd,
    ...(isSilent ? {} : { say: saidOn(io) }),
  });
