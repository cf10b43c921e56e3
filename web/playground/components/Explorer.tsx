/**
 * The project's files and its node_modules, as a tree (WAI-ARIA's pattern: one tab stop, arrow keys, type to find).
 * Only the rows in sight are in the document, however many there are.
 */
import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { formatCount } from '../format.js';
import { project } from '../session.js';
import { adopt, collapse, expand, problem, type Row, rows } from '../tree.js';
import { edited, open, openFile, resetFiles } from '../workspace.js';
import { ChevronIcon, FileIcon, FolderIcon, LinkIcon, LockIcon, ResetIcon } from './icons.js';

/** As in the style sheet. */
const ROW_HEIGHT = 26;
/** Rows drawn above and below what is in sight. */
const MARGIN = 12;

export function Explorer() {
  const scroller = useRef<HTMLDivElement>(null);
  const active = useSignal(0);
  const top = useSignal(0);
  const height = useSignal(600);
  const confirming = useSignal(false);
  const typed = useRef({ text: '', at: 0 });
  const all = rows.value;
  const at = Math.min(active.value, all.length - 1);

  useSignalEffect(() => void adopt(project.value));
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight;
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(index, rows.value.length - 1));
    active.value = next;
    const element = scroller.current;
    if (!element) return;
    if (next * ROW_HEIGHT < element.scrollTop) element.scrollTop = next * ROW_HEIGHT;
    const below = (next + 1) * ROW_HEIGHT - element.clientHeight;
    if (below > element.scrollTop) element.scrollTop = below;
  };

  const activate = (row: Row) => {
    if (row.kind !== 'directory') openFile({ path: row.path, origin: row.origin });
    else if (row.expanded) collapse(row.path);
    else void expand(row);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = all[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(height.value / ROW_HEIGHT) - 1);
    const moves: Record<string, () => void> = {
      ArrowDown: () => moveTo(at + 1),
      ArrowUp: () => moveTo(at - 1),
      PageDown: () => moveTo(at + page),
      PageUp: () => moveTo(at - page),
      Home: () => moveTo(0),
      End: () => moveTo(all.length - 1),
      Enter: () => activate(row),
      ' ': () => activate(row),
      ArrowRight: () => {
        if (row.kind !== 'directory') return;
        if (row.expanded) moveTo(at + 1);
        else void expand(row);
      },
      ArrowLeft: () => {
        if (row.expanded) collapse(row.path);
        else moveTo(parentOf(all, at));
      },
    };
    const move = moves[event.key];
    if (move) {
      event.preventDefault();
      typed.current.text = '';
      move();
    } else if (event.key.length === 1) {
      moveTo(find(all, at, type(typed.current, event.key)));
    }
  };

  const first = Math.max(0, Math.floor(top.value / ROW_HEIGHT) - MARGIN);
  const last = Math.min(all.length, Math.ceil((top.value + height.value) / ROW_HEIGHT) + MARGIN);
  return (
    <section class="panel explorer" aria-labelledby="explorer-title">
      <header class="panel-header">
        <h2 id="explorer-title">Files</h2>
        {edited.value && (
          <button
            type="button"
            class={confirming.value ? 'small danger' : 'quiet small'}
            title="Give up the changes to this project"
            onClick={({ detail }) => {
              // The second click of a double one is no answer.
              if (detail > 1) return;
              if (confirming.value) resetFiles();
              confirming.value = !confirming.value;
            }}
            onBlur={() => {
              confirming.value = false;
            }}
          >
            <ResetIcon />
            {confirming.value ? 'Give up the changes?' : 'Reset'}
          </button>
        )}
        {project.value && <span class="count">{formatCount(project.value.files)}</span>}
      </header>
      {problem.value && (
        <p class="field-error" role="alert" data-code={problem.value.code}>
          {problem.value.message}
        </p>
      )}
      <div
        class="tree"
        ref={scroller}
        role="tree"
        tabIndex={0}
        aria-labelledby="explorer-title"
        aria-activedescendant={all[at] ? `row-${at}` : undefined}
        onKeyDown={onKeyDown}
        onScroll={(event) => {
          top.value = event.currentTarget.scrollTop;
        }}
      >
        <div class="tree-rows" role="presentation" style={{ height: `${all.length * ROW_HEIGHT}px` }}>
          {all.slice(first, last).map((row, offset) => (
            <TreeRow
              key={`${row.origin}:${row.path}`}
              row={row}
              index={first + offset}
              active={first + offset === at}
              onPress={() => {
                active.value = first + offset;
                scroller.current?.focus();
                activate(row);
              }}
            />
          ))}
        </div>
      </div>
    </section>
  );
}

interface TreeRowProps {
  row: Row;
  index: number;
  active: boolean;
  onPress: () => void;
}

function TreeRow({ row, index, active, onPress }: TreeRowProps) {
  const shown = open.value.path === row.path && open.value.origin === row.origin;
  const directory = row.kind === 'directory';
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys go to the tree, which has the focus
    <div
      id={`row-${index}`}
      class="row"
      role="treeitem"
      tabIndex={-1}
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-expanded={directory ? row.expanded : undefined}
      aria-selected={shown}
      data-active={active}
      data-kind={row.kind}
      style={{ top: `${index * ROW_HEIGHT}px`, '--level': row.level - 1 }}
      // A press would give the row the focus, and with it the keys.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onPress}
    >
      <span class="twist">{directory && <ChevronIcon />}</span>
      <RowIcon row={row} />
      <span class="row-name">{row.name}</span>
    </div>
  );
}

function RowIcon({ row }: { row: Row }) {
  if (row.origin === 'lock') return <LockIcon />;
  if (row.kind === 'directory') return <FolderIcon />;
  return row.kind === 'symlink' ? <LinkIcon /> : <FileIcon />;
}

function parentOf(all: readonly Row[], at: number): number {
  const level = all[at]?.level ?? 1;
  for (let index = at - 1; index >= 0; index--) if ((all[index]?.level ?? 1) < level) return index;
  return at;
}

/** Letters typed within a second of each other make a prefix. */
function type(typed: { text: string; at: number }, key: string): string {
  const now = performance.now();
  typed.text = now - typed.at < 1000 ? typed.text + key.toLowerCase() : key.toLowerCase();
  typed.at = now;
  return typed.text;
}

function find(all: readonly Row[], at: number, prefix: string): number {
  const start = prefix.length === 1 ? at + 1 : at;
  for (let step = 0; step < all.length; step++) {
    const index = (start + step) % all.length;
    if (all[index]?.name.toLowerCase().startsWith(prefix)) return index;
  }
  return at;
}
