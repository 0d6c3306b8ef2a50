import type { ChangeFeed } from '../passes/change-feed.ts';

export interface EventStreams {
  /** Opens a stream of server-sent events; null if there are too many. */
  readonly open: () => ReadableStream<Uint8Array> | null;
}

/**
 * Sends an event `state` with the version at once, after each change, and when nothing else was sent for a while. A slow reader may miss versions, but
 * not that there is a newer one: its unread events already say so.
 */
export const eventStreams = (
  changeFeed: ChangeFeed,
  { max = 64, heartbeat = 15_000 } = {},
): EventStreams => ({
  open: () => (changeFeed.listeners < max ? streamOf(changeFeed, heartbeat) : null),
});

const streamOf = (changeFeed: ChangeFeed, heartbeat: number): ReadableStream<Uint8Array> => {
  let end = (): void => undefined;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const send = (text: string): void => {
          if ((controller.desiredSize ?? 0) > 0) controller.enqueue(encoder.encode(text));
        };
        const stopListening = changeFeed.listen((version) => send(stateEvent(version)));
        // Only sending shows that the other side is gone; and only hearing, that this one is there.
        const timer = setInterval(() => send(stateEvent(changeFeed.version)), heartbeat).unref();
        end = () => {
          stopListening();
          clearInterval(timer);
        };
        send(`retry: 2000\n${stateEvent(changeFeed.version)}`);
      },
      cancel: () => end(),
    },
    { highWaterMark: 4 },
  );
};

const stateEvent = (version: string): string => `event: state\ndata: ${version}\n\n`;

const encoder = new TextEncoder();
