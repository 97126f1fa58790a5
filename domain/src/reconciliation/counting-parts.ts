import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable } from '@tollgate/platform/database/database'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { UsageStore } from '@tollgate/platform/usage-store/usage-store'
import type { Environment } from '@tollgate/schemas/environment'
import { usageTopic } from '@tollgate/schemas/topics'
import type { CustomerKey } from '../customers/repository.ts'
import { UsageBehindError } from '../entitlements/usage-behind-error.ts'
import { listPublications } from '../publications/repository.ts'
import type { StoredPart } from '../stored-usage/query-stored-usage.ts'
import { waitUntilStored } from '../stored-usage/stored-up-to.ts'
import type { Scope } from './scope.ts'

/** Services that count usage and store its records. */
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
  /** How long to wait until the counters and the usage store have all acknowledged usage, in milliseconds. */
  readonly storedWaitMs: number
  /**
   * Pause before each of up to 5 further checks of a difference, in milliseconds. A difference that lasts through all of them is
   * not a change in progress.
   */
  readonly recheckPauseMs: number
}

/** A comparison of counters with the records. */
export type CountingRun = {
  readonly sql: Queryable
  readonly parts: CountingParts
  readonly scope: Scope
  /** Offset of each partition. Counters behind it were lost. */
  readonly countedTo: readonly number[]
}

/**
 * Waits until all usage acknowledged before the call is stored, in every partition. Returns the stored parts. Throws
 * UsageBehindError.
 */
export async function waitUntilAllStored(
  parts: CountingParts,
  environment: Environment,
): Promise<readonly StoredPart[]> {
  const { eventLog, now, storedWaitMs } = parts
  const partitions = partitionsOf(eventLog, environment)
  return (await waitUntilStored(parts, environment, partitions, now, storedWaitMs)).parts
}

/**
 * Waits until the counters have all usage acknowledged before the call. Returns the offset of each partition. Counters that are
 * behind it later were lost and cannot be compared. Throws UsageBehindError.
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

const recheckMax = 5

type Recheck = <Seen>(
  seen: readonly Seen[],
  compareAgain: (suspects: readonly Seen[]) => Promise<readonly Seen[]>,
) => Promise<readonly Seen[]>

/**
 * Checks differences again until they are gone or the checks are used up, and returns those that remain. Once `remainingMax`
 * differences remain, something general is wrong, and further differences are returned unchecked. Checking every page again would
 * take hours.
 */
export function createRechecker(remainingMax: number, pauseMs: number): Recheck {
  let remaining = 0
  return async (seen, compareAgain) => {
    let suspects = seen
    for (let checks = 0; checks < recheckMax && remaining < remainingMax; checks += 1) {
      if (suspects.length === 0) break
      await sleep(pauseMs)
      suspects = await compareAgain(suspects)
    }
    remaining += suspects.length
    return suspects
  }
}

/**
 * Returns the references of customers that have a queued publication. All customers belong to one provider. Other metrics report
 * how old queued publications are.
 */
export async function listUnpublished(
  sql: Queryable,
  customers: readonly CustomerKey[],
): Promise<ReadonlySet<string>> {
  const targets = customers.map(({ providerId, customerRef: target }) => ({ providerId, target }))
  const waiting = await listPublications(sql, 'customer', targets)
  return new Set(waiting.map(({ target }) => target))
}
