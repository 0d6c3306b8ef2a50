import { besideBareNode } from '../commands.mjs';

export const about = '--help against bare node';
export const target = 1.5;
export const unit = '×';

export const measure = () => besideBareNode(['--help'], {}, 21);
