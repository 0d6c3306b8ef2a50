import { playTheme } from './theme.ts';

playTheme('writing.txt');
