/** The tables of a state file, of which salvage reads what it can. */
export type PortableTable =
  | 'clients'
  | 'tokens'
  | 'client_templates'
  | 'templates'
  | 'records'
  | 'journal'
  | 'history'
  | 'suspensions';
