/** The install: start, watch, cancel, and what came of it. */
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { formatBytes, formatCount, formatDuration, plural } from '../format.js';
import { isInMemory, store } from '../open-store.js';
import {
  cancel,
  discardLock,
  type Installation,
  install,
  installation,
  installs,
  type Phase,
  type Progress,
  project,
  running,
  warnings,
} from '../session.js';
import { FailureCard } from './FailureCard.js';
import { CheckIcon, DownloadIcon } from './icons.js';
import { saveText } from './save.js';

export function InstallPanel() {
  const present = installation.value;
  const busy = running.value;
  return (
    <section
      class="panel install"
      aria-labelledby="install-title"
      data-testid="install"
      data-state={present.state}
      data-installs={installs.value}
      data-store={store.value.state}
    >
      <header class="panel-header">
        <h2 id="install-title">Install</h2>
        {busy ? (
          <button
            type="button"
            onClick={onFirstClick(cancel)}
            disabled={present.state === 'cancelling' || (present.state === 'clearing' && !present.isWaiting)}
            data-testid="cancel-button"
          >
            {present.state === 'cancelling' ? 'Cancelling' : 'Cancel'}
          </button>
        ) : (
          <button
            type="button"
            class="primary"
            onClick={onFirstClick(() => void install())}
            disabled={store.value.state === 'opening' || store.value.state === 'waiting'}
            data-testid="install-button"
          >
            {present.state === 'done' ? 'Install again' : 'Install'}
          </button>
        )}
      </header>
      <div class="panel-body">
        <StoreNotice />
        <Body present={present} />
        <Warnings />
      </div>
    </section>
  );
}

/** Not for the second click of a double one: the button that it meets has taken the place of the one that was meant. */
function onFirstClick(action: () => void): (event: MouseEvent) => void {
  return ({ detail }) => {
    if (detail < 2) action();
  };
}

function Body({ present }: { present: Installation }) {
  switch (present.state) {
    case 'idle':
      return (
        <p class="lead">
          Resolves this <code>package.json</code> as npm would, then downloads, verifies and unpacks every package
          without leaving the page.
        </p>
      );
    case 'running':
    case 'cancelling':
      return <Live phase={present.phase} progress={present.progress} began={present.began} />;
    case 'clearing':
      return present.isWaiting ? <WaitingNotice /> : <p class="lead">Everything that is stored is being removed.</p>;
    case 'cancelled':
      return <p class="lead">Cancelled. What was finished is kept, and the next install continues from there.</p>;
    case 'failed':
      return <FailureCard failure={present.failure} title="The install failed" />;
    case 'done':
      return <Done progress={present.progress} by={present.by} />;
  }
}

function StoreNotice() {
  const present = store.value;
  if (present.state === 'waiting') return <WaitingNotice />;
  if (present.state === 'failed' && installation.value.state !== 'failed') {
    return <FailureCard failure={present.failure} title={`The store could not be ${present.wanted}`} />;
  }
  return isInMemory.value ? <MemoryNotice /> : null;
}

function MemoryNotice() {
  return (
    <p class="notice" role="status" data-testid="in-memory">
      The browser gives this page no storage, as in a private window. Packages are in memory, and gone when you leave
      the page.
    </p>
  );
}

function WaitingNotice() {
  return (
    <p class="notice" role="status" data-testid="waiting">
      Another tab is at work in this page’s store. When that is done, this one goes on by itself.
    </p>
  );
}

const phases: readonly { id: Phase; title: string }[] = [
  { id: 'resolve', title: 'Resolve' },
  { id: 'fetch', title: 'Download' },
  { id: 'link', title: 'Lay out' },
  { id: 'lock', title: 'Lock' },
];

function Live({ phase, progress, began }: { phase: Phase | undefined; progress: Progress; began: number }) {
  const elapsed = useElapsed(began);
  const at = phases.findIndex(({ id }) => id === phase);
  const wanted = Math.max(progress.wanted, progress.resolved, 1);
  const stored = progress.unpacked + progress.reused;
  return (
    <>
      {phase === 'waiting' && <WaitingNotice />}
      <ol class="phases" aria-label="Steps">
        {phases.map(({ id, title }, index) => (
          <li key={id} data-state={index < at ? 'past' : index === at ? 'present' : 'future'}>
            {index < at && <CheckIcon />}
            {title}
          </li>
        ))}
      </ol>
      <div
        class="bar"
        role="progressbar"
        aria-label="Packages ready"
        aria-valuemin={0}
        aria-valuemax={wanted}
        aria-valuenow={Math.min(stored, wanted)}
        data-vague={progress.wanted === 0}
      >
        <span class="bar-downloaded" style={{ '--part': fraction(progress.downloaded + progress.reused, wanted) }} />
        <span class="bar-unpacked" style={{ '--part': fraction(stored, wanted) }} />
      </div>
      <dl class="metrics">
        <Metric label="Resolved">{formatCount(progress.resolved)}</Metric>
        <Metric label="Downloaded">{formatCount(progress.downloaded)}</Metric>
        <Metric label="Unpacked">{formatCount(progress.unpacked)}</Metric>
        <Metric label="Received">{formatBytes(progress.bytes)}</Metric>
        <Metric label="Rate">{formatBytes(rate(progress.bytes, elapsed))}/s</Metric>
        <Metric label="Elapsed">{formatDuration(elapsed)}</Metric>
      </dl>
    </>
  );
}

/** Where a tree comes from that this page has not installed. */
const origins: Partial<Record<string, string>> = {
  'earlier visit': 'from your last visit',
  'other tab': 'from another tab',
};

function Done({ progress, by }: Omit<Extract<Installation, { state: 'done' }>, 'state'>) {
  const installed = project.value;
  if (!installed) return null;
  return (
    <>
      <p
        class="outcome"
        role="status"
        data-testid="done"
        data-packages={installed.packages}
        data-files={installed.files}
      >
        <strong>{plural(installed.packages, 'package')}</strong>
        <span>
          {plural(installed.files, 'file')} {origins[by] ?? `in ${formatDuration(progress.elapsed)}`}
        </span>
      </p>
      {by === 'install' && (
        <dl class="metrics">
          <Metric label="Downloaded">{formatCount(progress.downloaded)}</Metric>
          <Metric label="From the store">{formatCount(progress.reused)}</Metric>
          <Metric label="Requests">{formatCount(progress.requests)}</Metric>
          <Metric label="Received">{formatBytes(progress.bytes)}</Metric>
          <Metric label="Rate">{formatBytes(rate(progress.bytes, progress.elapsed))}/s</Metric>
          <Metric label="Elapsed">{formatDuration(progress.elapsed)}</Metric>
        </dl>
      )}
      <div class="actions">
        <button type="button" onClick={() => saveText('package-lock.json', installed.lockfile)}>
          <DownloadIcon />
          package-lock.json
        </button>
        <button
          type="button"
          class="link"
          onClick={discardLock}
          title="The next install resolves every version anew. Downloaded packages stay."
        >
          Discard the lock
        </button>
      </div>
    </>
  );
}

function Warnings() {
  const all = warnings.value;
  if (all.length === 0) return null;
  return (
    <details class="warnings">
      <summary>{plural(all.length, 'warning')}</summary>
      <ul>
        {all.map(({ code, message }) => (
          <li key={`${code} ${message}`}>
            <code>{code}</code> {message}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Metric({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Milliseconds since `began`, at a pace that can be read. */
function useElapsed(began: number): number {
  const elapsed = useSignal(0);
  useEffect(() => {
    const timer = setInterval(() => {
      elapsed.value = performance.now() - began;
    }, 70);
    return () => clearInterval(timer);
  }, [began]);
  return elapsed.value;
}

function fraction(part: number, whole: number): string {
  return Math.min(part / whole, 1).toFixed(4);
}

function rate(bytes: number, milliseconds: number): number {
  return milliseconds > 0 ? (bytes * 1000) / milliseconds : 0;
}
