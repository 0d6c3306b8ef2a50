import { randomUUID } from 'node:crypto';

/** Tells listeners that what they show is out of date: once for all changes of half a second. */
export class ChangeFeed {
  /** Makes versions differ from those of an earlier run, which also counted from 0. */
  readonly #boot = randomUUID().slice(0, 8);
  readonly #listeners = new Set<() => void>();
  #count = 0;
  #isWaiting = false;

  /** The version of the visible state. The same version means that nothing has changed. */
  get version(): string {
    return `${this.#boot}-${this.#count}`;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** To be called when something visible has changed. */
  readonly changed = (): void => {
    this.#count += 1;
    if (this.#isWaiting || this.#listeners.size === 0) return;
    this.#isWaiting = true;
    const tellAll = (): void => {
      this.#isWaiting = false;
      for (const tell of this.#listeners) tell();
    };
    setTimeout(tellAll, interval).unref();
  };

  /** Returns a function that removes the listener. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Milliseconds. */
const interval = 500;

/**
 * A stream of server-sent events: the version at once, after each change, and when nothing else was sent for a while. A
 * slow reader may miss versions, but not that there is a newer one: its unread events already say so. Null if there are
 * too many streams.
 */
export const eventStream = (changeFeed: ChangeFeed): ReadableStream<Uint8Array> | null => {
  if (changeFeed.listeners >= maxStreams) return null;
  let end = (): void => undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const send = (): void => {
          const event = `event: state\ndata: ${changeFeed.version}\n\n`;
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(new TextEncoder().encode(event));
        };
        const stopListening = changeFeed.listen(send);
        // Only sending shows that the other side is gone; and only hearing, that this one is there.
        const timer = setInterval(send, heartbeat).unref();
        end = () => {
          stopListening();
          clearInterval(timer);
        };
        send();
      },
      cancel: () => end(),
    },
    { highWaterMark: 4 },
  );
};

const maxStreams = 64;
/** Milliseconds. */
const heartbeat = 15_000;
