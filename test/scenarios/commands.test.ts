import { playTheme } from './theme.ts';

playTheme('commands.txt');
