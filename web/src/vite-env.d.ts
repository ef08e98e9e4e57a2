/// <reference types="vite/client" />

/** The sample campaign's own questions; put in by the build from the sample's data. */
declare const SAMPLE_QUESTIONS: readonly string[];
