import { HostingError } from '../hosting/errors.ts';
import type { Clock, Halt } from './context.ts';

/** Whom a failed request stops, and by what clock. */
export interface HaltContext {
  readonly halt: Halt;
  readonly clock: Clock;
}

/** Ends the writes of the client for this pass. A denial is the cause to tell; the longest wait asked for holds. */
export const haltFor = (error: HostingError, { halt, clock }: HaltContext): void => {
  const isDenied = error.kind === 'unauthorized';
  if (halt.reason === null || (isDenied && halt.isDenied !== true)) {
    halt.reason = error.message;
    halt.isDenied = isDenied;
  }
  const wait = error.retryAfter ?? (error.kind === 'rate-limited' ? defaultWait : null);
  if (wait !== null) halt.retryAt = Math.max(halt.retryAt ?? 0, clock.now() + wait);
};

/** Whether the service takes no more calls of the client for now: the tokens open nothing, or it asked for time. */
export const isClosed = ({ isDenied, retryAt }: Halt): boolean => isDenied === true || retryAt !== null;

/** Whether what failed would fail for every other request of the client as well. */
export const concernsAll = ({ kind }: HostingError): boolean =>
  kind === 'unauthorized' || kind === 'rate-limited';

/** What a reading gives. Null, with the writes of the client ended, where it fails; or where no more may be asked. */
export const readOrHalt = async <T>(read: () => Promise<T>, context: HaltContext): Promise<T | null> => {
  if (isClosed(context.halt)) return null;
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HostingError)) throw error;
    haltFor(error, context);
    return null;
  }
};

/** Milliseconds, where a service that asks for time does not say how much. */
const defaultWait = 60_000;
