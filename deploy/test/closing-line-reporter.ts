import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Ends a run with one machine-readable line: "N passed, N failed", and the number of skipped tests if there are any. Before it,
 * lists the tests that failed and passed when they were repeated, with their first error.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const again: string[] = []
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        counts[test.result().state] += 1
        if (test.diagnostic()?.flaky === true) again.push(describeRetried(test))
      }
      // A file that could not be loaded contains no tests, so it counts as one failure.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1
    }
    const failed = counts.failed + unhandledErrors.length
    if (again.length > 0) console.log(`Held only at the second try:\n${again.join('\n')}\n`)
    const skipped = counts.skipped + counts.pending
    console.log(
      `${counts.passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    )
  }
}

const linesMax = 60

function describeRetried(test: TestCase): string {
  const errors = test.result().errors ?? []
  // The difference names what the message cuts short. It is needed because the failure may not come again.
  const lines = errors.flatMap(({ message, diff }) => [message, ...(diff?.split('\n') ?? [])])
  const shown = lines.slice(0, linesMax).map((line) => `    ${line}`)
  return [`  ${test.module.relativeModuleId}: ${test.fullName}`, ...shown].join('\n')
}
