import { playTheme } from './theme.ts';

playTheme('readings.txt');
