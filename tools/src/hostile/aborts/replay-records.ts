import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { customerOf } from './abort-request.ts'
import type { RecordState } from './run-aborts.ts'

const recordsPerCall = 500

/**
 * Records every key again. A duplicate in the answer shows that the first attempt was counted. Returns the numbers of counted and
 * not counted keys by state, and the keys whose result contradicts their state.
 */
export async function replayRecords(
  client: TollgateClient,
  recordStates: ReadonlyMap<string, RecordState>,
): Promise<{ counted: Record<RecordState, [counted: number, not: number]>; problems: string[] }> {
  const counted: Record<RecordState, [number, number]> = {
    cut: [0, 0],
    unanswered: [0, 0],
    acked: [0, 0],
    refused: [0, 0],
  }
  const problems: string[] = []
  const entries = [...recordStates]
  for (let at = 0; at < entries.length; at += recordsPerCall) {
    const page = entries.slice(at, at + recordsPerCall)
    const events = page.map(([idempotencyKey]) => ({
      customerRef: customerOf(idempotencyKey),
      idempotencyKey,
    }))
    const { results } = await client.recordUsages(events)
    page.forEach(([key, state], index) => {
      const isDuplicate = results[index]?.creditDebit?.reason === 'duplicate'
      counted[state][isDuplicate ? 0 : 1]++
      if (state === 'acked' && !isDuplicate)
        problems.push(`${key} was acknowledged and not counted`)
      if ((state === 'cut' || state === 'refused') && isDuplicate) {
        problems.push(`${key} was ${state} and counted nevertheless`)
      }
    })
  }
  return { counted, problems }
}
