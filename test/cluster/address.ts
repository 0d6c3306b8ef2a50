import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { PostgresServer } from './postgres.ts';

/** One address by which PostgreSQL is found, whichever of several servers that is. `onAsked`: given each piece before it is sent there. */
export const openAddress = async (
  first: Pick<PostgresServer, 'port'>,
  onAsked: (piece: Buffer) => void = () => undefined,
) => {
  let { port: current } = first;
  let isSilent = false;
  let [lostStatement, lost] = ['', 0];
  const open = new Set<Socket>();
  const hush = (): void => {
    for (const one of open) {
      if (isSilent) one.pause();
      else one.resume();
    }
  };
  const address = createServer((socket) => {
    const server = connect(current, '127.0.0.1');
    for (const one of [socket, server]) open.add(one.on('close', () => open.delete(one)));
    for (const one of [socket, server]) one.on('error', () => undefined).on('close', () => socket.destroy());
    socket.on('close', () => server.destroy());
    let isAnswered = true;
    socket.on('data', (piece) => {
      if (lost > 0 && piece.includes(lostStatement)) {
        isAnswered = false;
        lost -= 1;
      }
      onAsked(piece);
      server.write(piece);
    });
    server.on('data', (piece) => isAnswered && socket.write(piece));
    hush();
  });
  address.listen(0, '127.0.0.1');
  await once(address, 'listening');
  onTestFinished(() => void address.close());
  const { port } = address.address() as AddressInfo;
  const lead = (to: PostgresServer): void => void (current = to.port);
  /** Nothing goes through, and nobody is told. */
  const cut = (is: boolean): void => {
    isSilent = is;
    hush();
  };
  /** The answers to the next so many statements with this text are lost. */
  const lose = (statement: string, times: number): void => void ([lostStatement, lost] = [statement, times]);
  return { url: `postgres://tester@127.0.0.1:${port}/postgres`, port, lead, cut, lose };
};
