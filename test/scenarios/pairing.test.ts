import { playTheme } from './theme.ts';

playTheme('pairing.txt');
