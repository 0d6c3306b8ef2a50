import { playTheme } from './theme.ts';

playTheme('surplus.txt');
