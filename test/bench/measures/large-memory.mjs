import { peakOfPlan } from '../commands.mjs';

export const about = 'most resident memory of a cold plan of 1 template × 10,000 records';
export const target = 110;
export const unit = 'MiB';

export const measure = () => peakOfPlan({ templates: 1, records: 10_000 }, 5);
