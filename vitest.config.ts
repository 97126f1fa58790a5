import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './deploy/test/longest-first.ts'

const source = { conditions: ['source'] }

/** Tests of adapters on the real engines, which the other project never waits for. */
const engineTests = '*/{src,test}/**/*.engines.test.ts'

const postgresCopies = './deploy/test/postgres-copies.ts'

export default defineConfig({
  resolve: source,
  ssr: { resolve: source },
  // Where vitest runs its own files: the global set-up.
  environments: { __vitest__: { resolve: source } },
  test: {
    // One look at a page is four pictures of it, in a browser that shares the machine with all other tests.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Once, on a machine that may be busier than a test allows for; the closing lines name each. What was found by chance
    // says its seed, and counts at once: the next try would look elsewhere.
    retry: { count: 1, condition: /^(?![^]*\bseed\b)/ },
    // For what takes milliseconds, and seconds on a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // They publish TypeScript under the condition that our own sources are found by, which Node itself cannot load.
    server: { deps: { inline: [/@modelcontextprotocol\/(client|sdk|ext-apps)/, /eventsource/] } },
    // More than there are cores, because many tests wait: for a process to start, a session or a lease to end.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    sequence: { sequencer: LongestFirst },
    reporters: [
      'default',
      './deploy/test/closing-line-reporter.ts',
      './deploy/test/stall-reporter.ts',
    ],
    projects: [
      {
        extends: true,
        test: {
          name: 'default',
          // Files of one worker share what they import: to load it again for each takes longer than many of them run.
          isolate: false,
          include: ['*/{src,test}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', engineTests],
          globalSetup: postgresCopies,
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: [engineTests],
          // `isolate` stays on: what a process has learned from one schema registry is wrong at the next.
          // After all others, and fewer at a time: most of these start several servers of their own.
          sequence: { groupOrder: 1 },
          maxWorkers: availableParallelism(),
          globalSetup: [postgresCopies, './deploy/test/engines/global-setup.ts'],
        },
      },
    ],
  },
})
