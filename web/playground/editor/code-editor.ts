/** CodeMirror, set up once; a file keeps its state (history, selection, scroll) while others are shown. Loaded lazily. */
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { css } from '@codemirror/lang-css';
import { html } from '@codemirror/lang-html';
import { javascript } from '@codemirror/lang-javascript';
import { json, jsonParseLinter } from '@codemirror/lang-json';
import { vue } from '@codemirror/lang-vue';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from '@codemirror/language';
import { linter, lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { appearance } from './appearance.js';

export interface ShownFile {
  /** Distinguishes files of equal paths. */
  key: string;
  path: string;
  text: string;
  editable: boolean;
}

export class CodeEditor {
  readonly #view: EditorView;
  readonly #onEdit: (path: string, text: string) => void;
  readonly #states = new Map<string, EditorState>();
  #shown: ShownFile | undefined;

  constructor(parent: HTMLElement, onEdit: (path: string, text: string) => void) {
    this.#view = new EditorView({ parent });
    this.#onEdit = onEdit;
  }

  show(file: ShownFile): void {
    const before = this.#shown;
    const present = this.#view.state;
    // What was just typed comes back through the workspace.
    if (before?.key === file.key && present.doc.toString() === file.text) return;
    if (before?.editable) this.#states.set(before.key, present);
    this.#shown = file;
    const kept = this.#states.get(file.key);
    this.#view.setState(kept?.doc.toString() === file.text ? kept : this.#newState(file));
    if (before?.key !== file.key) this.#view.scrollDOM.scrollTop = 0;
  }

  destroy(): void {
    this.#view.destroy();
  }

  #newState(file: ShownFile): EditorState {
    return EditorState.create({
      doc: file.text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        drawSelection(),
        bracketMatching(),
        highlightSelectionMatches(),
        appearance,
        language(file.path),
        keymap.of([...searchKeymap, ...foldKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': file.path }),
        file.editable ? this.#editing(file) : EditorState.readOnly.of(true),
      ],
    });
  }

  #editing(file: ShownFile): Extension {
    return [
      history(),
      indentOnInput(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      // Escape, then Tab, leaves the editor, as CodeMirror's accessibility notes ask.
      keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap, indentWithTab]),
      file.path.endsWith('.json') ? linter(jsonParseLinter(), { delay: 300 }) : [],
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.#onEdit(file.path, update.state.doc.toString());
      }),
    ];
  }
}

function language(path: string): Extension {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  switch (extension) {
    case 'json':
    case 'map':
      return json();
    case 'js':
    case 'mjs':
    case 'cjs':
    case 'jsx':
      return javascript({ jsx: true });
    case 'ts':
    case 'mts':
    case 'cts':
      return javascript({ typescript: true });
    case 'tsx':
      return javascript({ typescript: true, jsx: true });
    case 'css':
      return css();
    case 'vue':
      return vue();
    case 'svelte':
    case 'html':
    case 'svg':
      return html();
    default:
      return [];
  }
}
