import { playTheme } from './theme.ts';

playTheme('unknown.txt');
