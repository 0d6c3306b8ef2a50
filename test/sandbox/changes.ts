import { changeByHand } from '../../src/sandbox/operations.ts';
import type { SandboxStore } from '../../src/sandbox/sandbox.ts';

export type ShownTemplate = ReturnType<typeof changeByHand>;

/** A change of the embedded service by hand. */
export const changeOf = (store: SandboxStore, name: string, body: object): ShownTemplate => {
  const data = store.read();
  const shown = changeByHand(data, name, JSON.stringify(body));
  store.write(data);
  return shown;
};
