/** Collects the body of an answer. */
export interface IncomingBody {
  readonly add: (piece: Buffer) => void;
  /** The whole body, at the end. */
  readonly whole: () => Buffer;
}

/**
 * `former` is the previous answer to the same request. Equal pieces are compared as they arrive and not
 * stored again; if all are equal the body is `former` itself. Joining a large answer takes longer than
 * reading it.
 */
export const incomingBody = (previous: Buffer | null = null): IncomingBody => {
  const pieces: Buffer[] = [];
  /** The number of equal bytes so far; valid while there are no pieces. */
  let same = 0;
  const comesAgain = (piece: Buffer): boolean =>
    previous !== null &&
    pieces.length === 0 &&
    same + piece.length <= previous.length &&
    previous.compare(piece, 0, piece.length, same, same + piece.length) === 0;
  return {
    add: (piece) => {
      if (comesAgain(piece)) same += piece.length;
      else pieces.push(piece);
    },
    whole: () => {
      if (previous === null) return Buffer.concat(pieces);
      if (pieces.length === 0 && same === previous.length) return previous;
      return Buffer.concat([previous.subarray(0, same), ...pieces]);
    },
  };
};
