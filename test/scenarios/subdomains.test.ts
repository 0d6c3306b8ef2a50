import { playTheme } from './theme.ts';

playTheme('subdomains.txt');
