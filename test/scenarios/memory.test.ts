import { playTheme } from './theme.ts';

playTheme('memory.txt');
