import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';

/**
 * HTTP/1.1 lets a client send any number of requests before it reads an answer. Here they are answered one after
 * the other on each socket, and what waits is dropped when the socket is gone. A socket with more requests than
 * anybody sends who wants the answers is closed.
 */
export const oneAtATime = (answer: RequestListener, { most = 256 } = {}): RequestListener => {
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
      // Others are served between two answers.
      response.once('close', () => setImmediate(next, socket));
      answer(request, response);
    };
    const before = waiting.get(socket);
    if (before === undefined) {
      waiting.set(socket, []);
      begin();
    } else if (before.length < most) {
      before.push(begin);
      socket.pause();
    } else {
      socket.destroy();
    }
  };
};

/**
 * Lets a few begin in each turn of the event loop, in the order in which they came: however many want a long answer at
 * once, whoever wants a short one waits for a few of them alone.
 */
export const fewInATurn = (most = 4): (() => Promise<void>) => {
  const waiting: (() => void)[] = [];
  const letSome = (): void => {
    for (const begin of waiting.splice(0, most)) begin();
    if (waiting.length > 0) setImmediate(letSome);
  };
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(letSome);
    });
};
