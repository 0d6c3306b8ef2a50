import { planBesideParsing } from '../commands.mjs';

export const about = 'cold plan of 1 template × 100,000 records against bare node, yaml and JSON.parse';
export const target = 0.4;
export const targetOfOctodns = 0.06;
export const unit = '×';

export const measure = () => planBesideParsing({ templates: 1, records: 100_000 }, 3);
