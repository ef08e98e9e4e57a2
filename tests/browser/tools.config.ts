/** Runs what drives the page without testing it: benchmarks and screenshots, one at a time. */
import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: '.',
  testMatch: '*.bench.ts',
  outputDir: 'test-results',
  workers: 1,
  timeout: 0,
  reporter: 'line',
});
