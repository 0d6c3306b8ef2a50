import { planBesideParsing } from '../commands.mjs';

export const about = 'cold plan of 1 template × 10,000 records against bare node, yaml and JSON.parse';
export const target = 0.7;
export const targetOfOctodns = 0.1;
export const unit = '×';

export const measure = () => planBesideParsing({ templates: 1, records: 10_000 }, 9);
