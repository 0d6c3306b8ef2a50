import { playTheme } from './theme.ts';

playTheme('binding.txt');
