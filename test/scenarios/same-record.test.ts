import { playTheme } from './theme.ts';

playTheme('same-record.txt');
