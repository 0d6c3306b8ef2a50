/** Identifies a write from its intent to its last outcome, also over passes and processes: its run, and its number there. */
export const writeIdOf = ({ run, id }: { readonly run: string; readonly id: number }): string =>
  `${run}/${id}`;
