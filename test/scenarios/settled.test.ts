import { playTheme } from './theme.ts';

playTheme('settled.txt');
