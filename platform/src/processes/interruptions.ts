/** Milliseconds after a part was killed or was started again during which a dependent part may fail because of it. */
const aftermathMs = 30_000

/**
 * Maximum launches of a part that fail with a broken connection. A killed child process of PostgreSQL only shows as broken
 * connections. A store that does not exist breaks them at each launch.
 */
const brokenLaunchesMax = 3

/** Errors that a starting service reports when the connection to a part that it needs breaks. */
const brokenConnection =
  /ECONNREFUSED|ECONNRESET|EPIPE|CONNECTION_(CLOSED|ENDED|DESTROYED)|socket hang up|terminating connection/

/** PostgreSQL is running but still recovering. On a slow disk this takes minutes, because it may first sync all its files. */
const recovering =
  /database system is (in recovery mode|starting up|shutting down|not yet accepting connections)/

/**
 * Distinguishes a start that failed because a process was killed from a start that would fail again. All parts share one instance.
 */
export class Interruptions {
  #lastAtMs = -Infinity

  /** Notes that a part ended unexpectedly, or that it was started again. */
  recordEnd(): void {
    this.#lastAtMs = performance.now()
  }

  /** Returns whether the failed launch of a part should be repeated. `launches` is the number of launches so far. */
  isWorthRetry(error: unknown, launches: number): boolean {
    if ((error as { readonly wasKilled?: unknown } | undefined)?.wasKilled === true) return true
    if (performance.now() - this.#lastAtMs < aftermathMs) return true
    if (!(error instanceof Error)) return false
    if (recovering.test(error.message)) return true
    if (launches > brokenLaunchesMax) return false
    return brokenConnection.test(error.message)
  }
}
