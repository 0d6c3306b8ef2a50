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

/** What the operating system says, in words, or else the message: of errors whose message would repeat a path. */
export const codeOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error && 'code' in thrown)) return messageOf(thrown);
  const code = String(thrown.code);
  return `${code in codeWords ? `${codeWords[code]}: ` : ''}${code}${deniedTo(thrown)}`;
};

const codeWords: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a directory',
  ENOTDIR: 'part of its path is not a directory',
  EACCES: 'no permission',
  EPERM: 'no permission',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/** The end of a message about a file, if what was thrown denies it: to whom, as a container's user is seldom known. */
export const deniedTo = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'EACCES' || code === 'EPERM' ? ` for ${processUser}` : '';
};

/** As whom this process uses files. Systems without uids have nothing better to say. */
export const processUser = process.getuid ? `uid ${process.getuid()}` : 'this user';
