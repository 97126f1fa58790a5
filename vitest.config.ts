import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './deploy/test/longest-first.ts'

const source = { conditions: ['source'] }

/** Tests that need real engines, such as Kafka and Redis. They are a project of their own, so that no other test waits for engines. */
const engineTests = '*/{src,test}/**/*.engines.test.ts'

const postgresCopies = './deploy/test/postgres-copies.ts'

export default defineConfig({
  resolve: source,
  ssr: { resolve: source },
  // Vitest imports the global set-up in this environment.
  environments: { __vitest__: { resolve: source } },
  test: {
    // The inspection of a page checks it four times, in a browser that shares the machine with all other tests.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A failed test runs once more, because the machine may be busier than the test allows for. The closing lines name each of
    // them. A failure whose message has a seed was found by random input and counts at once: the second run would try other input.
    retry: { count: 1, condition: /^(?![^]*\bseed\b)/ },
    // Most polled conditions hold after milliseconds, and after seconds on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    // Under the condition `source` these packages export TypeScript, which Node cannot load. Vitest transforms it.
    server: { deps: { inline: [/@modelcontextprotocol\/(client|sdk|ext-apps)/, /eventsource/] } },
    // There are more workers than cores, because many tests wait for a process to start, or for a session or a lease to end.
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
          // The files of one worker share their imports. Loading them again for each file takes longer than many files run.
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
          // `isolate` stays on, because a process keeps schemas of one schema registry, which are wrong at the next one.
          // These files run after all others, and fewer at a time, because most of them start several servers of their own.
          sequence: { groupOrder: 1 },
          maxWorkers: availableParallelism(),
          globalSetup: [postgresCopies, './deploy/test/engines/global-setup.ts'],
        },
      },
    ],
  },
})
