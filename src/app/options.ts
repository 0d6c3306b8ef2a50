/** The flags as the argument parser returns them; `settings` and the commands check the values. */
export type Options = Readonly<Record<string, string | boolean | string[] | undefined>>;
