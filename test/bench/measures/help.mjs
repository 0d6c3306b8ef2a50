import { besideBareNode } from '../commands.mjs';

export const about = '--help against bare node';
export const target = 1.5;
export const unit = '×';
/** What a profile shows where the target is missed. */
export const why =
  'of some 34 ms beyond bare node 14 read and unpack the program, 4 load modules of Node.js itself, and 4 print; the rest is ' +
  'code that runs once: the commands with their options, and the settings';

export const measure = () => besideBareNode(['--help'], {}, 21);
