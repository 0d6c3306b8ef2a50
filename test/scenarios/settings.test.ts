import { playTheme } from './theme.ts';

playTheme('settings.txt');
