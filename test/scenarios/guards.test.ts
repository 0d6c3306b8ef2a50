import { playTheme } from './theme.ts';

playTheme('guards.txt');
