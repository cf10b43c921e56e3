/** Name, starting projects, storage, settings, theme. */
import { useRef } from 'preact/hooks';
import { formatBytes } from '../format.js';
import { running, usage } from '../session.js';
import { starters } from '../starters.js';
import { theme, toggleTheme } from '../theme.js';
import { chooseStarter, starter } from '../workspace.js';
import { GearIcon, Mark, MoonIcon, SunIcon } from './icons.js';
import { SettingsDialog } from './Settings.js';

export function Header() {
  const dialog = useRef<HTMLDialogElement>(null);
  const busy = running.value;
  return (
    <header class="header">
      <a class="brand" href="./" aria-label="Gantry playground">
        <Mark />
        <span>Gantry</span>
      </a>
      <p class="tagline">npm install, inside this tab</p>
      <nav class="starters" aria-label="Starting projects">
        {starters.map((one) => (
          <button
            key={one.id}
            type="button"
            title={one.summary}
            aria-pressed={one.id === starter.value.id}
            disabled={busy}
            onClick={() => chooseStarter(one)}
          >
            {one.title}
          </button>
        ))}
      </nav>
      <div class="header-actions">
        <button type="button" class="quiet" onClick={() => dialog.current?.showModal()} data-testid="settings">
          <GearIcon />
          <span class="wide-only">{usage.value ? `${formatBytes(usage.value.bytes)} stored` : 'Settings'}</span>
          <span class="visually-hidden">: registry and storage</span>
        </button>
        <button
          type="button"
          class="quiet square"
          onClick={toggleTheme}
          aria-label={theme.value === 'dark' ? 'Use the light theme' : 'Use the dark theme'}
        >
          {theme.value === 'dark' ? <SunIcon /> : <MoonIcon />}
        </button>
      </div>
      <SettingsDialog dialog={dialog} />
    </header>
  );
}
