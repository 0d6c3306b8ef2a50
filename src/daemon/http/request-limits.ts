import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * HTTP/1.1 lets a client send any number of requests before it reads an answer. Here each socket gets its
 * answers one after the other; waiting requests are dropped when the socket closes. A socket with more
 * waiting requests than a real client has is closed.
 */
export const oneAtATime = (answer: RequestListener, { max = 256 } = {}): RequestListener => {
  const waiting = new WeakMap<Socket, (() => void)[]>();
  const next = (socket: Socket): void => {
    if (socket.destroyed) return void waiting.delete(socket);
    const task = waiting.get(socket)?.shift();
    if (task) return task();
    waiting.delete(socket);
    socket.resume();
  };
  return (request, response) => {
    const { socket } = request;
    const begin = (): void => {
      // Other sockets are served between two answers.
      response.once('close', () => setImmediate(next, socket));
      answer(request, response);
    };
    const before = waiting.get(socket);
    if (before === undefined) {
      waiting.set(socket, []);
      begin();
    } else if (before.length < max) {
      before.push(begin);
      socket.pause();
    } else {
      socket.destroy();
    }
  };
};

/**
 * Lets a few requests start, then after a pause (milliseconds) a few more, in order. So many slow answers
 * leave most of the time to quick ones.
 */
export const fewAtATime = ({ max = 4, breakMs = 5 } = {}): (() => Promise<void>) => {
  const waiting: (() => void)[] = [];
  let free = max;
  const letMore = (): void => {
    const begun = waiting.splice(0, max);
    free = max - begun.length;
    for (const begin of begun) begin();
    if (begun.length > 0) setTimeout(letMore, breakMs);
  };
  return () =>
    new Promise((resolve) => {
      if (free === 0) return void waiting.push(resolve);
      if (free === max) setTimeout(letMore, breakMs);
      free -= 1;
      resolve();
    });
};
