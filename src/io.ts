import type { Clock } from './lib/clock.ts';

/**
 * All that the program has from the process that it runs in. A command reads and changes nothing else of it, so that
 * many can run in one process, each with an `Io` of its own.
 */
export interface Io {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdin: Input;
  readonly env: NodeJS.ProcessEnv;
  /** What relative paths start from; absolute. */
  readonly cwd: string;
  readonly signals: Signals;
  readonly clock: Clock;
  /** Whether the process is there for this program alone, which then sets V8 to its needs. */
  readonly ownsProcess: boolean;
}

export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  hasColors?(): boolean;
  /** Of a stream of the process: the log is written to it at once, past what the stream holds back. */
  readonly fd?: number;
};

export const hasColors = (output: Pick<Output, 'isTTY' | 'hasColors'>): boolean =>
  output.isTTY === true && output.hasColors?.() === true;

export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** The signals that a command may wait for. Before it does, each does what it does to any process. */
export interface Signals {
  /** Resolves at the first SIGTERM or SIGINT. What a second one does is a matter of the process. */
  untilStop(): Promise<NodeJS.Signals>;
  /** Calls at each SIGHUP. */
  onHangup(call: () => void): void;
  /** Calls at each SIGUSR1. */
  onDebugger(call: () => void): void;
}
