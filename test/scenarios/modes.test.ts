import { playTheme } from './theme.ts';

playTheme('modes.txt');
