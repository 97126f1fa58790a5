import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { formatCount } from '@tollgate/platform/terminal/table'
import type { CrowdKind } from './behaviours.ts'
import type { CrowdStats } from './crowd-connections.ts'

export type Crowd = {
  /** Resolves when so many of its connections are open at once, or the patience is over. */
  untilOpen(size: number, patienceMs: number): Promise<void>
  stats(): CrowdStats
  /** Closes all connections. What they came to. */
  end(): Promise<CrowdStats>
}

/** The built program, also when the caller runs from source. */
const program = fileURLToPath(new URL('../../../dist/hostile/crowd/main.js', import.meta.url))
const noStats: CrowdStats = { open: 0, opened: 0, longestHeldMs: 0, sentBytes: 0, statuses: {} }

export function startCrowd(kind: CrowdKind, baseUrl: string, size: number, key: string): Crowd {
  const child = fork(program, [kind, baseUrl, String(size), key])
  const gone = once(child, 'exit')
  let stats = noStats
  child.on('message', (message) => (stats = message as CrowdStats))
  return {
    async untilOpen(wanted, patienceMs) {
      const deadline = Date.now() + patienceMs
      while (stats.open < wanted && Date.now() < deadline) {
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

/** Files that a process of the instance needs beside the crowd's connections. */
const reservedFiles = 1_000

/**
 * As many of the wanted connections as one process may have open here. Node raises its own limit to the highest one
 * it may have, and what it starts inherits that; so crowd and instance have the same.
 */
export async function connectionsWithinLimit(wanted: number): Promise<number> {
  const { stdout } = await promisify(execFile)('sh', ['-c', 'ulimit -n'])
  const limit = stdout.trim() === 'unlimited' ? Infinity : Number(stdout)
  return Math.max(1, Math.min(wanted, limit - reservedFiles))
}

export function crowdText({ open, opened, longestHeldMs, statuses }: CrowdStats): string {
  const answers = Object.entries(statuses).map(([status, times]) => `${times} x ${status}`)
  return `${formatCount(open)} connections at the end, ${formatCount(opened)} in all, held for ${(longestHeldMs / 1000).toFixed(1)} s at the longest, answers: ${answers.join(', ') || 'none'}`
}
