import { usageTopic } from '@tollgate/schemas/topics'
import type { CountingWindow } from './counting-windows.ts'
import type { PassedTail, TailAnswer } from './shared-tail.ts'
import type { Reading, UsageParts, UsageQuery } from './usage-query.ts'

/**
 * Sums up the log's records of one reference beyond its applied offset, by window. The view and its offset are read in
 * one step, so view plus tail is exact even if the projection applies records in the meantime.
 */
export async function readTail(
  { tails }: UsageParts,
  { environment, productRef, meterName, caller }: UsageQuery,
  { at, view, head }: Reading,
  windows: readonly CountingWindow[],
  passed: PassedTail | undefined,
): Promise<{ readonly partition: number; readonly answer: TailAnswer }> {
  const { subject, partition } = at
  // A record without a product counts for every product of the provider.
  const scopes = new Set([productRef, ''])
  const answer = await tails.read(at, usageTopic(environment), {
    fence: view.appliedOffset,
    head,
    series: Array.from(scopes, (scope) => ({ subject, scope, meterName })),
    windows,
    passed,
    caller,
  })
  return { partition, answer }
}
