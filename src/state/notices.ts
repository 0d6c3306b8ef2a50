export interface Notices {
  /** Starts a pass; returns the function that shows its notices. */
  begin(): (message: string) => void;
  /** From the next pass on, every notice is new. */
  forget(): void;
}

/** Does not repeat notices of the previous pass. A notice is new again after a pass without it. */
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
