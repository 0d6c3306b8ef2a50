import { playTheme } from './theme.ts';

playTheme('refusals.txt');
