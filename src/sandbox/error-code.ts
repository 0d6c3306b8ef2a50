/** Whether a system call failed for this reason, e.g. `ENOENT`. */
export const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code;
