import { besideBareNode } from '../commands.mjs';

export const about = '--help against bare node';
export const target = 1.5;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'of some 30 ms beyond bare node 12 load modules of Node.js itself (http, tls, crypto, streams), 10 unpack the program, and ' +
  '3 print; the factor depends on how fast bare node starts, which takes 20 to 40 ms on the same machine';

export const measure = () => besideBareNode(['--help'], {}, 21);
