/** Where the state of one client is, and what identifies it there. */
export interface SavedAt {
  readonly file: string;
  readonly stateDir: string;
  /** The key of its rows: the digest of base URL and client name. */
  readonly scope: string;
  /** The embedded service starts without state, which needs no warning. */
  readonly isSandbox: boolean;
}
