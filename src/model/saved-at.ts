/** Where the state of one client is, and what identifies it there. */
export interface SavedAt {
  readonly file: string;
  readonly stateDir: string;
  /** The digest of base URL and client token; the token itself is not stored. */
  readonly digest: string;
  /** The embedded service starts without state, which needs no warning. */
  readonly isSandbox: boolean;
}
