/** The page: header, explorer, editor, and beside them the install and what it makes possible. */
import { Editor } from './Editor.js';
import { Explorer } from './Explorer.js';
import { Header } from './Header.js';
import { InstallPanel } from './InstallPanel.js';
import { Preview } from './Preview.js';

export function App() {
  return (
    <>
      <Header />
      <main class="workbench">
        <Explorer />
        <Editor />
        <div class="results">
          <InstallPanel />
          <Preview />
        </div>
      </main>
    </>
  );
}
