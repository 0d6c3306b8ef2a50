import { playTheme } from './theme.ts';

playTheme('state.txt');
