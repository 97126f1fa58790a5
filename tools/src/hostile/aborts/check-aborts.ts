import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { watchServices } from '../service-watch.ts'
import { waitUntilStored } from '../stored-records.ts'
import type { Check } from '../verdict.ts'
import { abortCustomers } from './abort-request.ts'
import { replayRecords } from './replay-records.ts'
import { runAborts } from './run-aborts.ts'

export type AbortsOptions = { readonly seed: number; readonly aborts: number }

const problemsShownMax = 20

/** Runs clients that disconnect at any stage. Afterwards every accepted record must be counted once, and no refused record. */
export function checkAborts(options: AbortsOptions): Check {
  return async (instance, print) => {
    const { baseUrl, liveKey: key } = instance.credentials
    let aborts = 0
    const progress = (): string => `${formatCount(aborts).padStart(9)} aborts`
    const watch = await watchServices(instance, progress, print)
    const onAbort = (): void => void aborts++
    const run = await runAborts({ baseUrl, key, ...options, onAbort })
    const problems = [...run.violations, ...(await watch.end())]

    const client = createTollgateClient({ baseUrl, key, connectionsMax: 4, timeoutMs: 30_000 })
    try {
      const replay = await replayRecords(client, run.recordStates)
      problems.push(...replay.problems)
      for (const state of ['cut', 'acked', 'refused'] as const) {
        if (replay.counted[state].every((count) => count === 0))
          problems.push(`no record was ${state}`)
      }
      const stored = await waitUntilStored(client, run.recordStates.size, abortCustomers)
      if (stored !== run.recordStates.size) {
        problems.push(`${stored} records are stored of ${run.recordStates.size} keys`)
      }
      const rows = Object.entries(replay.counted).map(([state, [counted, not]]) => [
        state,
        formatCount(counted),
        formatCount(not),
      ])
      return {
        lines: [
          formatTable(['record', 'counted', 'not counted'], rows),
          `${formatCount(aborts)} aborts; ${watch.memoryText('ingest')}; all ${formatCount(stored)} records stored once after a second attempt`,
        ],
        problems: problems.slice(0, problemsShownMax),
      }
    } finally {
      client.close()
    }
  }
}
