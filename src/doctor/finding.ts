import type { Dialect } from '../model/dialect.ts';

/** One line of the result. `problem`: it cannot work, or would write wrongly, until that is changed. */
export interface Finding {
  readonly about: string;
  readonly state: 'ok' | 'note' | 'problem';
  readonly text: string;
}

/** `settle` as in a settings file. */
export type ToSet = Partial<Dialect> & { readonly settle?: string };

/** What a part of the examination has found, and what is to set. */
export interface Found {
  readonly findings: readonly Finding[];
  readonly set?: ToSet;
}

/** Makes findings about one thing. */
export const findingsAbout = (about: string) => {
  const all: Finding[] = [];
  const add = (state: Finding['state']) => (text: string) => void all.push({ about, state, text });
  return { all, ok: add('ok'), note: add('note'), problem: add('problem') };
};
