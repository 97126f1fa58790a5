import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { CustomerName } from '../customers/repository.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { listPublications } from '../publications/repository.ts'
import type { StoredPart } from '../stored-usage/query-stored-usage.ts'
import { waitUntilStored } from '../stored-usage/stored-up-to.ts'

/** Where usage is counted, and where its records are. */
export type CountingParts = {
  readonly eventLog: Pick<EventLog, 'partitionCount' | 'head' | 'position'>
  readonly hotState: Pick<
    HotState,
    | 'appliedOffset'
    | 'incarnation'
    | 'readDocument'
    | 'readEntry'
    | 'readEntryDocument'
    | 'waitForApply'
  >
  readonly usageStore: Pick<UsageStore, 'query'>
  readonly now: () => Date
  /** How long to wait for the counters, and for the usage store, to have what was acknowledged. */
  readonly storedWaitMs: number
  /** Before each of five more looks at what did not agree: what differed for that long was not on its way. */
  readonly lookAgainMs: number
}

/** Of every partition: what was acknowledged before this was called is stored in these. Throws UsageBehindError. */
export async function waitUntilAllStored(
  parts: CountingParts,
  environment: Environment,
): Promise<readonly StoredPart[]> {
  const { eventLog, now, storedWaitMs } = parts
  const partitions = partitionsOf(eventLog, environment)
  return (await waitUntilStored(parts, environment, partitions, now, storedWaitMs)).parts
}

/**
 * Waits until the counters have what was acknowledged before this was called, and says how far that is by partition: counters
 * that are behind it later were lost, and say nothing. Throws UsageBehindError.
 */
export async function waitUntilAllCounted(
  { eventLog, hotState, storedWaitMs }: CountingParts,
  environment: Environment,
): Promise<readonly number[]> {
  const deadlineMs = performance.now() + storedWaitMs
  const topic = usageTopic(environment)
  const heads = await Promise.all(
    partitionsOf(eventLog, environment).map(async (partition) => eventLog.head(topic, partition)),
  )
  for (;;) {
    const applied = await Promise.all(
      heads.map((_, partition) => hotState.appliedOffset(environment, partition)),
    )
    const behind = heads.reduce((sum, head, at) => sum + Math.max(0, head - applied[at]!), 0)
    if (behind === 0) return heads
    const leftMs = deadlineMs - performance.now()
    if (leftMs <= 0) throw new UsageBehindError(behind)
    await hotState.waitForApply(leftMs)
  }
}

function partitionsOf(
  eventLog: Pick<EventLog, 'partitionCount'>,
  environment: Environment,
): number[] {
  const length = eventLog.partitionCount(usageTopic(environment))
  return Array.from({ length }, (_, partition) => partition)
}

const looksMax = 5

type LookAgain = <Seen>(
  seen: readonly Seen[],
  look: (suspects: readonly Seen[]) => Promise<readonly Seen[]>,
) => Promise<readonly Seen[]>

/**
 * Looks again at what did not agree, until it does or has had its time, and returns what still does not. Once so many stand,
 * everything is wrong, and the rest is returned as it was seen first: page by page, looking again would take hours.
 */
export function lookingAgain(standingMax: number, pauseMs: number): LookAgain {
  let standing = 0
  return async (seen, look) => {
    let suspects = seen
    for (let looks = 0; looks < looksMax && standing < standingMax; looks += 1) {
      if (suspects.length === 0) break
      await sleep(pauseMs)
      suspects = await look(suspects)
    }
    standing += suspects.length
    return suspects
  }
}

/** References of those, all of one provider, of which the hot state is about to hear: how far behind it is, other figures tell. */
export async function listUnpublished(
  sql: Queryable,
  customers: readonly CustomerName[],
): Promise<ReadonlySet<string>> {
  const targets = customers.map(({ providerId, customerRef: target }) => ({ providerId, target }))
  const waiting = await listPublications(sql, 'customer', targets)
  return new Set(waiting.map(({ target }) => target))
}
