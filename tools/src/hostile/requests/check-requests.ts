import { createTollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { formatCount, formatTable } from '@tollgate/platform/terminal/table'
import { watchServices } from '../service-watch.ts'
import { countStored, waitUntilStored } from '../stored-records.ts'
import type { Check } from '../verdict.ts'
import { runRequests } from './run-requests.ts'
import type { HostileTally } from './tally.ts'

export type RequestsOptions = {
  readonly seed: number
  readonly requests: number
  readonly connections: number
}

/** Sends the requests with the live key, and then checks which records are stored. */
export function checkRequests(options: RequestsOptions): Check {
  return async (instance, print) => {
    const { baseUrl, liveKey: key } = instance.credentials
    const client = createTollgateClient({ baseUrl, key, connectionsMax: 2, timeoutMs: 30_000 })
    try {
      const storedBefore = await countStored(client)
      let requests = 0
      const progress = (): string => `${formatCount(requests).padStart(9)} requests`
      const watch = await watchServices(instance, progress, print)
      const onProgress = (tally: HostileTally): void => void (requests = tally.requests)
      const tally = await runRequests({ baseUrl, key, ...options, onProgress })
      const stored =
        (await waitUntilStored(client, storedBefore + tally.ackedRecords)) - storedBefore
      const problems = [
        ...tally.violations,
        ...recordProblems(tally, stored),
        ...(await watch.end()),
      ]
      const alive = await client.send('POST', '/v1/sdk/usages', { customerRef: 'alive' })
      if (alive.status !== 200) problems.push(`a plain usage call is answered ${alive.status}`)
      return { lines: [statusTable(tally), recordsLine(tally, stored)], problems }
    } finally {
      client.close()
    }
  }
}

function recordProblems(tally: HostileTally, stored: number): string[] {
  const { ackedRecords, unansweredRecordsMax } = tally
  if (ackedRecords === 0) return ['no record was accepted, so nothing was compared']
  if (stored >= ackedRecords && stored <= ackedRecords + unansweredRecordsMax) return []
  return [
    `${stored} records are stored; ${ackedRecords} were acknowledged and at most ${unansweredRecordsMax} got no answer`,
  ]
}

function statusTable({ statuses }: HostileTally): string {
  const rows = [...statuses]
    .sort(([a], [b]) => String(a).localeCompare(String(b)))
    .map(([status, count]) => [String(status), formatCount(count)])
  return formatTable(['status', 'answers'], rows)
}

function recordsLine({ ackedRecords }: HostileTally, stored: number): string {
  return `${formatCount(ackedRecords)} records acknowledged, ${formatCount(stored)} stored.`
}
