/**
 * Errors by fate. A `UserError` is mended by the person who runs the program: it is shown as one message,
 * without a stack. Anything else that reaches `main.ts` is a defect of ours.
 */
export class UserError extends Error {
  override name = 'UserError';
}

/** A message for people out of anything thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** What the operating system calls it, or else the message: of errors whose message would repeat a path. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : messageOf(thrown);
