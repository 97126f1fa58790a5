import { defineConfig } from 'vitest/config'

const source = { conditions: ['source'] }

export default defineConfig({
  resolve: source,
  ssr: { resolve: source },
  test: {
    include: ['*/src/**/*.test.ts', '*/test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
    reporters: ['default', './deploy/test/closing-line-reporter.ts'],
  },
})
