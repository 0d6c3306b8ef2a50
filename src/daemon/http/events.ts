import type { ChangeFeed } from '../passes/change-feed.ts';

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
