/** What the argument parser makes of the flags; `settings` and the commands say what each must be. */
export type Options = Readonly<Record<string, string | boolean | string[] | undefined>>;
