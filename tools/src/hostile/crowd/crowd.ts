import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { formatCount } from '@tollgate/platform/terminal/table'
import type { CrowdKind } from './behaviours.ts'
import type { CrowdStats } from './crowd-connections.ts'

export type Crowd = {
  /** Resolves when the statistics meet the condition, or after the timeout. */
  waitUntil(isMet: (stats: CrowdStats) => boolean, timeoutMs: number): Promise<void>
  stats(): CrowdStats
  /** Closes all connections and returns their statistics. */
  end(): Promise<CrowdStats>
}

/** Path of the built program, which is used even if this code runs from source. */
const program = fileURLToPath(new URL('../../../dist/hostile/crowd/main.js', import.meta.url))
const noStats: CrowdStats = {
  ...{ open: 0, mostOpen: 0, opened: 0, longestHeldMs: 0, sentBytes: 0 },
  statuses: {},
}

export function startCrowd(kind: CrowdKind, baseUrl: string, size: number, key: string): Crowd {
  const child = fork(program, [kind, baseUrl, String(size), key])
  const gone = once(child, 'exit')
  let stats = noStats
  child.on('message', (message) => (stats = message as CrowdStats))
  return {
    async waitUntil(isMet, timeoutMs) {
      const deadline = Date.now() + timeoutMs
      while (!isMet(stats) && child.exitCode === null && Date.now() < deadline) {
        await Promise.race([once(child, 'message'), gone])
      }
    },
    stats: () => stats,
    async end() {
      child.disconnect()
      await gone
      return stats
    },
  }
}

/** Number of files that a process of the instance needs in addition to the connections of the crowd. */
const reservedFiles = 1_000

/**
 * Returns how many of the wanted connections one process may open. Node raises its limit of open files to the maximum, and child
 * processes inherit it, so crowd and instance have the same limit.
 */
export async function connectionsWithinLimit(wanted: number): Promise<number> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n'])
  const limit = stdout.trim() === 'unlimited' ? Infinity : Number(stdout)
  return Math.max(1, Math.min(wanted, limit - reservedFiles))
}

export function crowdText({ open, opened, longestHeldMs, statuses }: CrowdStats): string {
  const answers = Object.entries(statuses).map(([status, times]) => `${times} x ${status}`)
  return `${formatCount(open)} connections at the end, ${formatCount(opened)} in all, the longest open for ${(longestHeldMs / 1000).toFixed(1)} s, answers: ${answers.join(', ') || 'none'}`
}
