import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { watchServices } from '../service-watch.ts'
import { countStored, waitUntilStored } from '../stored-records.ts'
import type { Check } from '../verdict.ts'
import { plainCustomer, smuggledCustomer } from './framed-bytes.ts'
import { runFraming } from './run-framing.ts'

export type FramingOptions = {
  readonly seed: number
  readonly requests: number
  readonly connections: number
}

/** Sends requests that contain a hidden request. None of them may be executed, and every other record must be stored once. */
export function checkFraming(options: FramingOptions): Check {
  return async (instance, print) => {
    const { baseUrl, liveKey: key } = instance.credentials
    let requests = 0
    const progress = (): string => `${formatCount(requests).padStart(9)} requests`
    const watch = await watchServices(instance, progress, print)
    const onRequest = (): void => void requests++
    const tally = await runFraming({ baseUrl, key, ...options, onRequest })
    const problems = [...tally.violations, ...(await watch.end())]
    const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
    try {
      const stored = await waitUntilStored(client, tally.ackedRecords, [plainCustomer])
      const smuggled = await countStored(client, [smuggledCustomer])
      if (tally.ackedRecords === 0) problems.push('no record was accepted, so nothing was compared')
      if (stored !== tally.ackedRecords) {
        problems.push(`${tally.ackedRecords} records were acknowledged, ${stored} are stored`)
      }
      if (smuggled > 0) problems.push(`${smuggled} smuggled records are stored`)
      const rows = [...tally.statuses].map(([status, count]) => [status, formatCount(count)])
      return {
        lines: [
          formatTable(['answers', 'requests'], rows),
          `${formatCount(tally.ackedRecords)} records acknowledged, ${formatCount(stored)} stored, ${smuggled} smuggled; ${watch.memoryText('ingest')}`,
        ],
        problems,
      }
    } finally {
      client.close()
    }
  }
}
