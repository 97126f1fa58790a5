import { usageTopic } from '@tollgate/schemas/topics'
import type { CountingWindow } from './counting-windows.ts'
import { foldTail } from './fold-tail.ts'
import { readLogRange } from './read-log-range.ts'
import type { Reading, UsageParts, UsageQuery } from './usage-query.ts'

/**
 * What the log holds for one reference beyond its applied offset, by window. The view and its offset are of one moment,
 * so view plus tail is exact whatever the projection does meanwhile.
 */
export async function readTail(
  parts: UsageParts,
  query: UsageQuery,
  { at, view, head, customerRef }: Reading,
  windows: readonly CountingWindow[],
): Promise<ReadonlyMap<string, bigint>> {
  const { space, partition } = at
  const { providerId, productRef, meterName } = query
  const owner = { providerId, customerRefs: new Set([customerRef]) }
  const topic = usageTopic(query.environment)
  const range = { topic, partition, fromOffset: view.appliedOffset, toOffset: head }
  const records = await readLogRange(parts.log, range, owner)
  const keyed = records.filter(({ event }) => event.idempotencyKey !== null)
  const ids = [...new Set(keyed.map(({ event }) => event.id))]
  const offsets = await parts.hotState.readMarks(space, partition, ids)
  const marks = new Map<string, number>()
  for (const [index, offset] of offsets.entries()) {
    if (offset !== undefined) marks.set(ids[index]!, offset)
  }
  return foldTail(records, { ...owner, productRef, meterName, windows }, marks)
}
