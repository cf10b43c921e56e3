/** The playground's entry. */
import '@fontsource-variable/geist/wght.css';
import '@fontsource-variable/geist-mono/wght.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/header.css';
import './styles/explorer.css';
import './styles/editor.css';
import './styles/results.css';
import { render } from 'preact';
import { App } from './components/App.js';
import { followInstalls, prepareAfterInstalls } from './run/runner.js';
import { followOtherTabs, followStarter } from './session.js';

const root = document.getElementById('app');
if (root) render(<App />, root);
followStarter();
followOtherTabs();
followInstalls();
prepareAfterInstalls();
