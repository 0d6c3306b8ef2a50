/** Rows of one table of the state, in a form that every store can read and write. */
export interface RowBatch {
  readonly table: PortableTable;
  readonly rows: readonly PortableRow[];
}

/** Its columns by name; `body` is JSON; without ids that a store assigns itself. */
export type PortableRow = Readonly<Record<string, string | number>>;

export type PortableTable = keyof typeof portableTables;

/** The columns of each table, and the order of its rows: intents and history by time of insertion. */
export const portableTables = {
  clients: { columns: ['scope', 'body'], order: ['scope'] },
  tokens: { columns: ['digest', 'scope'], order: ['digest'] },
  client_templates: { columns: ['scope', 'template_id'], order: ['scope', 'template_id'] },
  templates: { columns: ['scope', 'template_id', 'body'], order: ['scope', 'template_id'] },
  records: { columns: ['scope', 'template_id', 'body'], order: ['scope', 'template_id', 'key'] },
  intents: { columns: ['scope', 'body'], order: ['id'] },
  history: { columns: ['scope', 'at', 'body'], order: ['id'] },
  suspensions: { columns: ['scope', 'key', 'body'], order: ['scope', 'key'] },
} as const;

export const portableNames: readonly PortableTable[] = [
  'clients',
  'tokens',
  'client_templates',
  'templates',
  'records',
  'intents',
  'history',
  'suspensions',
];

/** Rows that are read at a time. */
export const batchSize = 1_000;

/** A field of a row's body. */
export const fieldOf = ({ body }: PortableRow, name: string): string | number => {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the bodies are this program's own
  const parsed = JSON.parse(String(body)) as Readonly<Record<string, string | number>>;
  return parsed[name] ?? '';
};
