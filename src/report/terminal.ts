import { styleText } from 'node:util';
import { shorten, widthOf, wrap } from './columns.ts';

export type Style = 'bold' | 'gray' | 'red' | 'green' | 'yellow' | 'magenta' | 'cyan';

interface Piece {
  readonly text: string;
  readonly style?: Style;
}

/** One line of a terminal, measured before it is painted. */
export type TerminalLine = readonly Piece[];

export const blank: TerminalLine = [];

export const lineWidth = (line: TerminalLine): number =>
  line.reduce((sum, { text }) => sum + widthOf(text), 0);

/** Words, wrapped to at most some ten lines. */
export const paragraph = (text: string, indent: number, width: number, style?: Style): TerminalLine[] =>
  wrap(shorten(text, 10 * width), width - indent).map((line) => [
    { text: ' '.repeat(indent) },
    style === undefined ? { text: line } : { text: line, style },
  ]);

export const join = (parts: readonly TerminalLine[], between: string): TerminalLine =>
  parts.flatMap((part, index) => (index === 0 ? part : [{ text: between }, ...part]));

/** Ends each line with a line feed. */
export const paint = (lines: readonly TerminalLine[], color: boolean): string =>
  lines.map((line) => `${line.map((piece) => paintPiece(piece, color)).join('')}\n`).join('');

/** The caller knows where the text goes; Node.js would check stdout. */
const paintPiece = ({ text, style }: Piece, color: boolean): string =>
  color && style !== undefined && text !== '' ? styleText(style, text, { validateStream: false }) : text;
