export interface Notices {
  /** Of one pass: gives what its notices are said with. */
  begin(): (message: string) => void;
  /** From the next pass on all is news. */
  forget(): void;
}

/** What the pass before had to say too is not said again; once a pass had no such notice, it is news again. */
export const openNotices = (warn: (message: string) => void): Notices => {
  let latest = new Set<string>();
  return {
    begin: () => {
      const before = latest;
      const said = new Set<string>();
      latest = said;
      return (message) => {
        if (!before.has(message) && !said.has(message)) warn(message);
        said.add(message);
      };
    },
    forget: () => {
      latest = new Set();
    },
  };
};
