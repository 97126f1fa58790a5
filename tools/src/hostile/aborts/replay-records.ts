import type { TollgateClient } from '@tollgate/deploy/client/tollgate-client'
import { customerOf } from './abort-request.ts'
import type { Fate } from './run-aborts.ts'

const recordsPerCall = 500

/**
 * Records every key again. A duplicate in the answer shows that the first attempt was counted. Returns the numbers of counted and
 * not counted keys by fate, and the keys whose result contradicts their fate.
 */
export async function replayRecords(
  client: TollgateClient,
  fates: ReadonlyMap<string, Fate>,
): Promise<{ counted: Record<Fate, [counted: number, not: number]>; problems: string[] }> {
  const counted: Record<Fate, [number, number]> = {
    cut: [0, 0],
    unanswered: [0, 0],
    acked: [0, 0],
    refused: [0, 0],
  }
  const problems: string[] = []
  const entries = [...fates]
  for (let at = 0; at < entries.length; at += recordsPerCall) {
    const page = entries.slice(at, at + recordsPerCall)
    const events = page.map(([idempotencyKey]) => ({
      customerRef: customerOf(idempotencyKey),
      idempotencyKey,
    }))
    const { results } = await client.recordUsages(events)
    page.forEach(([key, fate], index) => {
      const isDuplicate = results[index]?.creditDebit?.reason === 'duplicate'
      counted[fate][isDuplicate ? 0 : 1]++
      if (fate === 'acked' && !isDuplicate) problems.push(`${key} was acknowledged and not counted`)
      if ((fate === 'cut' || fate === 'refused') && isDuplicate) {
        problems.push(`${key} was ${fate} and counted all the same`)
      }
    })
  }
  return { counted, problems }
}
