/**
 * An error that the person who runs the program can fix. It is shown as one message, without a stack. Any
 * other error that reaches `cli.ts` is a bug.
 */
export class UserError extends Error {
  override name = 'UserError';
}

/** What a command or call was given cannot be used. */
export class ArgumentError extends UserError {
  override name = 'ArgumentError';
}

/** Another process holds the lock of this client and did not release it in time. */
export class LockedError extends UserError {
  override name = 'LockedError';
}

/** A message for people, from anything thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? `${thrown.message}${deniedTo(thrown)}` : String(thrown);

/** The system error code in words, or else the message; for errors whose message would repeat a path. */
export const codeOf = (thrown: unknown): string => {
  if (!(thrown instanceof Error && 'code' in thrown)) return messageOf(thrown);
  const code = String(thrown.code);
  return `${code in codeWords ? `${codeWords[code]}: ` : ''}${code}${deniedTo(thrown)}`;
};

const codeWords: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a directory',
  EEXIST: 'a file is where its directory should be',
  ENOTDIR: 'part of its path is not a directory',
  EACCES: 'no permission',
  EPERM: 'no permission',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open on this machine',
  ENOSPC: 'the disk is full',
  EROFS: 'the file system is read-only',
};

/** For a permission error, which user was denied: a container's user is often not known. */
export const deniedTo = (thrown: unknown): string => {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
  return code === 'EACCES' || code === 'EPERM' ? ` for ${processUser}` : '';
};

/** The user of this process, for messages. */
export const processUser = process.getuid ? `uid ${process.getuid()}` : 'this user';
