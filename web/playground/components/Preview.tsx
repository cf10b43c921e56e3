/** What the project does: its page, its output or its API, in a frame without an origin. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { formatBytes, formatDuration, plural } from '../format.js';
import { reportFromFrame, run, start } from '../run/runner.js';
import { project, running } from '../session.js';
import { starter } from '../workspace.js';
import { FailureCard } from './FailureCard.js';
import { PlayIcon } from './icons.js';

export function Preview() {
  const present = run.value;
  const ready = project.value !== undefined && !running.value;
  return (
    <section class="panel preview" aria-labelledby="preview-title" data-testid="preview" data-state={present.state}>
      <header class="panel-header">
        <h2 id="preview-title">Run</h2>
        {present.state === 'shown' && (
          <span class="count">
            {plural(present.size.modules, 'module')}, {formatBytes(present.size.bytes)}, bundled in{' '}
            {formatDuration(present.size.elapsed)}
          </span>
        )}
        <button
          type="button"
          disabled={!ready || present.state === 'bundling'}
          onClick={() => void start()}
          data-testid="run-button"
        >
          <PlayIcon />
          {present.state === 'shown' ? 'Run again' : 'Run'}
        </button>
      </header>
      <Body ready={ready} />
    </section>
  );
}

function Body({ ready }: { ready: boolean }) {
  const present = run.value;
  switch (present.state) {
    case 'shown':
      return (
        <>
          {present.thrown && (
            <div class="panel-body">
              <FailureCard failure={present.thrown} title="The code threw an error" />
            </div>
          )}
          <Frame key={present.serial} page={present.page} />
        </>
      );
    case 'failed':
      return (
        <div class="panel-body">
          <FailureCard failure={present.failure} title="It did not run" />
        </div>
      );
    case 'bundling':
      return (
        <p class="preview-empty" role="status">
          Bundling <code>{starter.value.entry}</code> with esbuild, in this tab
        </p>
      );
    case 'idle':
      return (
        <p class="preview-empty">
          {ready ? (
            <>
              Run bundles <code>{starter.value.entry}</code> with what is installed, and shows it here.
            </>
          ) : (
            'Install first; then the project runs here.'
          )}
        </p>
      );
  }
}

function Frame({ page }: { page: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  // Before the frame can have loaded.
  useLayoutEffect(() => {
    const listen = ({ source, data }: MessageEvent) => {
      if (source !== frame.current?.contentWindow || data?.gantryFrame !== 'error') return;
      reportFromFrame(String(data.message));
    };
    addEventListener('message', listen);
    return () => removeEventListener('message', listen);
  }, []);
  return (
    <iframe ref={frame} class="frame" sandbox="allow-scripts" srcdoc={page} title={`${starter.value.title}, running`} />
  );
}
