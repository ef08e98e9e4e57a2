// First: the invitation's key leaves the address bar before any other code runs.
import './invitation.ts';
import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/source-serif-4/wght.css';
import '@fontsource-variable/source-serif-4/wght-italic.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/frame.css';
import './styles/codex.css';
import './styles/entry.css';
import './styles/panels.css';
import { render } from 'preact';
import { startEntries } from './state/entries.ts';
import { startSearch } from './state/search.ts';
import { startSession } from './state/session.ts';
import { startSuggestions } from './state/suggestions.ts';
import { App } from './ui/app.tsx';
import { loadEditor } from './ui/entry-view.tsx';
import { startKeys } from './ui/keys.ts';
import { startReturning } from './ui/return.ts';

startSession();
startEntries();
startSearch();
startSuggestions();
startKeys();
startReturning();

const root = document.getElementById('app');
if (root !== null) render(<App />, root);

// The editor's code comes after the first view, unasked: who loses the network later can still write.
const EDITOR_AFTER_MS = 1_500;
setTimeout(() => loadEditor().catch(() => undefined), EDITOR_AFTER_MS);
