import { planBesideParsing } from '../commands.mjs';

export const about = 'cold plan of 1 template × 1,000 records against bare node, yaml and JSON.parse';
export const target = 1.0;
export const targetOfOctodns = 0.35;
export const unit = '×';

export const measure = () => planBesideParsing({ templates: 1, records: 1_000 }, 9);
