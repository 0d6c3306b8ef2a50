import { playTheme } from './theme.ts';

playTheme('conflicts.txt');
