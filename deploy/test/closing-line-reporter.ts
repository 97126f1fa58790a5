import type { Reporter, TestCase, TestModule } from 'vitest/node'

/**
 * Closes a run with one line that a machine can read: "N passed, N failed", and skipped where there are any. Before it
 * come the tests that failed and held when they ran again, with what failed first.
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
      // A file that could not be loaded has no tests to fail.
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

function describeRetried(test: TestCase): string {
  const messages = (test.result().errors ?? []).map(({ message }) => `    ${message}`)
  return [`  ${test.module.relativeModuleId}: ${test.fullName}`, ...messages].join('\n')
}
