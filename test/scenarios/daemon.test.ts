import { playTheme } from './theme.ts';

playTheme('daemon.txt');
