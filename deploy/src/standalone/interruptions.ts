import { StartRefusedError } from './start-refused.ts'

/** A part that needs another one may fail this long after that one was killed or runs again. */
const aftermathMs = 30_000

/**
 * A child process of PostgreSQL may be killed, of which only the connections that break tell. A store that is not there at all
 * breaks them each time.
 */
const brokenLaunchesMax = 3

/** What a service reports when the connection to a part that it needs breaks while the service starts. */
const brokenConnection =
  /ECONNREFUSED|ECONNRESET|EPIPE|CONNECTION_(CLOSED|ENDED|DESTROYED)|socket hang up|terminating connection/

/** PostgreSQL runs and recovers. On a slow disk this takes minutes, because it may first sync all its files. */
const recovering =
  /database system is (in recovery mode|starting up|shutting down|not yet accepting connections)/

/** Tells a start that failed because a process was killed from one that would fail again. Shared by all parts. */
export class Interruptions {
  #lastAtMs = -Infinity

  /** A part ended without being asked to, or runs again after that. */
  note(): void {
    this.#lastAtMs = performance.now()
  }

  /** Whether the failed launch of a part is worth repeating. `launches`: how often it was launched by now. */
  explains(error: unknown, launches: number): boolean {
    if (error instanceof StartRefusedError && error.wasKilled) return true
    if (performance.now() - this.#lastAtMs < aftermathMs) return true
    if (!(error instanceof Error)) return false
    if (recovering.test(error.message)) return true
    if (launches > brokenLaunchesMax) return false
    return brokenConnection.test(error.message)
  }
}
