/** The body of an answer, as its pieces come in. */
export interface IncomingBody {
  readonly add: (piece: Buffer) => void;
  /** All of it, when no more comes. */
  readonly whole: () => Buffer;
}

/**
 * `former` is what came when the same was asked before. What comes again is compared while it is at hand and not kept
 * a second time, and the whole of it is `former` itself: joining a large answer takes longer than reading it.
 */
export const incomingBody = (former: Buffer | null = null): IncomingBody => {
  const pieces: Buffer[] = [];
  /** Bytes, as long as there are no pieces. */
  let same = 0;
  const comesAgain = (piece: Buffer): boolean =>
    former !== null &&
    pieces.length === 0 &&
    same + piece.length <= former.length &&
    former.compare(piece, 0, piece.length, same, same + piece.length) === 0;
  return {
    add: (piece) => {
      if (comesAgain(piece)) same += piece.length;
      else pieces.push(piece);
    },
    whole: () => {
      if (former === null) return Buffer.concat(pieces);
      if (pieces.length === 0 && same === former.length) return former;
      return Buffer.concat([former.subarray(0, same), ...pieces]);
    },
  };
};
