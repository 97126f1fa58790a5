import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './deploy/test/longest-first.ts'

const source = { conditions: ['source'] }

/** Tests of adapters on the real engines, which the other project never waits for. */
const engineTests = '*/{src,test}/**/*.engines.test.ts'

export default defineConfig({
  resolve: source,
  ssr: { resolve: source },
  // Where vitest runs its own files: the global set-up.
  environments: { __vitest__: { resolve: source } },
  test: {
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // For what takes milliseconds, and seconds on a machine that is busy.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // They publish TypeScript under the condition that our own sources are found by, which Node itself cannot load.
    server: { deps: { inline: [/@modelcontextprotocol\/client/, /eventsource/] } },
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
          include: ['*/{src,test}/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', engineTests],
        },
      },
      {
        extends: true,
        test: {
          name: 'engines',
          include: [engineTests],
          globalSetup: './deploy/test/engines/global-setup.ts',
        },
      },
    ],
  },
})
