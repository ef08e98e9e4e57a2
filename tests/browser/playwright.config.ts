/**
 * Whole-system tests: the built page in a real Chromium, against the real relay.
 *
 * `LORE_BROWSER_REPORT` names the file that gets the JSON report.
 */
import { defineConfig } from '@playwright/test';

const report = process.env['LORE_BROWSER_REPORT'];

export default defineConfig({
  testDir: 'specs',
  outputDir: 'test-results',
  // Each test starts browsers of its own; two at a time is what two cores carry.
  workers: 2,
  fullyParallel: true,
  // A test that passes only when it is tried again has found something.
  retries: 0,
  forbidOnly: process.env['CI'] !== undefined,
  timeout: 120_000,
  expect: { timeout: 20_000 },
  reporter: report === undefined ? 'list' : [['list'], ['json', { outputFile: report }]],
});
