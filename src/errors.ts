/**
 * Errors by fate. A `UserError` is mended by the person who runs the program: it is shown as one message,
 * without a stack. Anything else that reaches `main.ts` is a defect of ours.
 */
export class UserError extends Error {
  override name = 'UserError';
}

/** Another process is at work for the same client, and went on with it. */
export class LockedError extends UserError {
  override name = 'LockedError';
}

/** A message for people out of anything thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? `${thrown.message}${deniedTo(thrown)}` : String(thrown);

/** What the operating system calls it, or else the message: of errors whose message would repeat a path. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown
    ? `${String(thrown.code)}${deniedTo(thrown)}`
    : messageOf(thrown);

/** The end of a message about a file, if what was thrown denies it: to whom, as a container's user is seldom known. */
export const deniedTo = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'EACCES' || code === 'EPERM' ? ` for ${processUser}` : '';
};

/** As whom this process uses files. Systems without uids have nothing better to say. */
export const processUser = process.getuid ? `uid ${process.getuid()}` : 'this user';
