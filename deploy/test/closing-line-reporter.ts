import type { Reporter, TestModule } from 'vitest/node'

/** Closes a run with one line that a machine can read: "N passed, N failed", and skipped where there are any. */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 }
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[test.result().state] += 1
      // A file that could not be loaded has no tests to fail.
      if (module.state() === 'failed' && module.errors().length > 0) counts.failed += 1
    }
    const failed = counts.failed + unhandledErrors.length
    const skipped = counts.skipped + counts.pending
    console.log(
      `${counts.passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`,
    )
  }
}
