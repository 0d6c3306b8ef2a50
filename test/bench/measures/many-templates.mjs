import { planBesideParsing } from '../commands.mjs';

export const about = 'cold plan of 1,000 templates × 100 records against bare node, yaml and JSON.parse';
export const target = 0.5;
export const targetOfOctodns = 0.05;
export const unit = '×';

export const measure = () => planBesideParsing({ templates: 1_000, records: 100 }, 5);
