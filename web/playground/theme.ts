/** Light or dark: as the system has it until someone chooses. */
import { effect, signal } from '@preact/signals';
import { remember, remembered } from './storage.js';

export type Theme = 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');
const chosen = signal(asTheme(remembered('theme')));

export const theme = signal<Theme>(chosen.value ?? systemTheme());

system.addEventListener('change', () => {
  if (!chosen.value) theme.value = systemTheme();
});

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});

export function toggleTheme(): void {
  theme.value = theme.value === 'dark' ? 'light' : 'dark';
  chosen.value = theme.value;
  remember('theme', theme.value);
}

function systemTheme(): Theme {
  return system.matches ? 'dark' : 'light';
}

function asTheme(value: string | undefined): Theme | undefined {
  return value === 'light' || value === 'dark' ? value : undefined;
}
