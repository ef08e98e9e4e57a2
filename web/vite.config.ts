import { defineConfig } from 'vite';
import sample from '../crates/sample/data/ferrymans-toll.json' with { type: 'json' };

/** Where `npm run dev` finds the relay that serves the protocol and its certificate hashes. */
const RELAY = 'http://localhost:7474';

export default defineConfig({
  // Absolute paths: `/j/<campaign>` loads the same page as `/`.
  base: '/',
  // The sample campaign's own questions, for beside the search field.
  define: { SAMPLE_QUESTIONS: JSON.stringify(sample.suggested) },
  // The compiler settings in tsconfig.json say how JSX becomes Preact calls; no plugin is needed.
  build: {
    outDir: 'dist',
    target: 'es2022',
    // Nothing is inlined as a data address, so that a policy of `'self'` is enough.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  worker: { format: 'es' },
  server: { proxy: { '/relay': { target: RELAY, ws: true } } },
});
