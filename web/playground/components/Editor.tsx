/** The project's files to edit; the lock file and files of the installed tree to read. */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { CodeEditor } from '../editor/code-editor.js';
import { readForViewing } from '../editor/viewing.js';
import { formatBytes } from '../format.js';
import { project } from '../session.js';
import { editFile, files, type OpenFile, open, openFile, starter, visited } from '../workspace.js';
import { DownloadIcon } from './icons.js';
import { saveText } from './save.js';

export function Editor() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useSignal<CodeEditor | undefined>(undefined);
  const note = useSignal('');
  const placeholder = useSignal('');

  useEffect(() => {
    let unmounted = false;
    void import('../editor/code-editor.js').then(({ CodeEditor }) => {
      if (!unmounted && host.current) editor.value = new CodeEditor(host.current, editFile);
    });
    return () => {
      unmounted = true;
      editor.peek()?.destroy();
    };
  }, []);

  useSignalEffect(() => {
    const file = open.value;
    const owner = starter.value.id;
    const view = editor.value;
    note.value = '';
    if (file.origin === 'project') {
      const text = files.value.get(file.path) ?? '';
      placeholder.value = text;
      view?.show({ key: `${owner}:${file.path}`, path: file.path, text, editable: true });
      return;
    }
    const installed = project.value;
    if (!installed) {
      openFile({ path: 'package.json', origin: 'project' });
      return;
    }
    if (file.origin === 'lock') {
      view?.show({ key: 'lock', path: file.path, text: installed.lockfile, editable: false });
      return;
    }
    void readForViewing(installed, file.path).then((viewed) => {
      if (open.peek() !== file) return;
      note.value = viewed.note;
      view?.show({ key: `installed:${file.path}`, path: file.path, text: viewed.text, editable: false });
    });
  });

  const shown = open.value;
  return (
    <section class="panel editor" aria-label="Editor">
      <div class="panel-header tabs" role="tablist" aria-label="Open files">
        {tabs().map((file) => (
          <button
            key={`${file.origin}:${file.path}`}
            type="button"
            role="tab"
            id={`tab-${file.origin}-${file.path}`}
            aria-selected={file.path === shown.path && file.origin === shown.origin}
            aria-controls="editor-panel"
            title={file.path}
            data-origin={file.origin}
            onClick={() => openFile(file)}
          >
            {lastSegment(file.path)}
          </button>
        ))}
      </div>
      {shown.origin !== 'project' && (
        <div class="editor-path">
          <span title={shown.path}>{shown.path}</span>
          {note.value && <em>{note.value}</em>}
          {shown.origin === 'lock' && project.value && (
            <>
              <em>{formatBytes(project.value.lockfile.length)}</em>
              <button
                type="button"
                class="quiet small"
                onClick={() => project.value && saveText('package-lock.json', project.value.lockfile)}
              >
                <DownloadIcon />
                Download
              </button>
            </>
          )}
        </div>
      )}
      <div
        class="editor-host"
        id="editor-panel"
        role="tabpanel"
        aria-labelledby={`tab-${shown.origin}-${shown.path}`}
        ref={host}
      >
        {!editor.value && <pre class="editor-placeholder">{placeholder.value}</pre>}
      </div>
    </section>
  );
}

function tabs(): OpenFile[] {
  const all: OpenFile[] = [...files.value.keys()].map((path) => ({ path, origin: 'project' }));
  if (project.value) {
    all.push({ path: 'package-lock.json', origin: 'lock' });
    if (visited.value) all.push(visited.value);
  }
  return all;
}

function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
