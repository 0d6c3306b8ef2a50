/** How the client writes a GET's parameters: in the query, in a form body, or in a JSON body. */
export const getParameterForms = ['query', 'body', 'json'] as const;
export const putParameterForms = ['form', 'query', 'json'] as const;

/** What is judged as the answer to a write: its own body, or a listing that is read after it. */
export const writeAnswers = ['template', 'listing'] as const;

/** How the next page of a listing is asked for: not at all, by the address that the last one names, by number. */
export const pageForms = ['none', 'link', 'page'] as const;

/** What the specification leaves open and services do differently. */
export interface Dialect {
  readonly getParameters: (typeof getParameterForms)[number];
  readonly putParameters: (typeof putParameterForms)[number];
  readonly writeAnswers: (typeof writeAnswers)[number];
  readonly pages: (typeof pageForms)[number];
  /** The key under which answers hold their lists; null: they are lists, or objects with one list. */
  readonly listKey: string | null;
  /** The name that an add of a record without a name sends; null: none. */
  readonly apexName: '' | '@' | null;
}

/** As the specification reads. */
export const specifiedDialect: Dialect = {
  getParameters: 'query',
  putParameters: 'form',
  writeAnswers: 'template',
  pages: 'none',
  listKey: null,
  apexName: null,
};
