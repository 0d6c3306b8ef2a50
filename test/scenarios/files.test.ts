import { playTheme } from './theme.ts';

playTheme('files.txt');
