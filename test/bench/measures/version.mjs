import { besideBareNode } from '../commands.mjs';

export const about = '--version against bare node';
export const target = 1.5;
export const unit = '×';

export const measure = () => besideBareNode(['--version'], {}, 21);
