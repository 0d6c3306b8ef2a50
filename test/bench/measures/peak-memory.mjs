import { peakOfPlan } from '../commands.mjs';

export const about = 'most resident memory of a cold plan of 1,000 templates × 100 records';
export const target = 400;
export const unit = 'MiB';

export const measure = () => peakOfPlan({ templates: 1_000, records: 100 }, 5);
