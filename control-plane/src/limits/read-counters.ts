import type { CounterProgress } from '@tollgate/domain/entitlements/counter-progress'
import { sumByKey } from '@tollgate/domain/entitlements/sum-by-key'
import type { EventLog } from '@tollgate/platform/event-log/event-log'
import type { HotState } from '@tollgate/platform/hot-state/hot-state'
import type { Environment } from '@tollgate/schemas/environment'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'

/** The counters of one customer and product. */
export type CountedProduct = {
  readonly productRef: string
  /** Every reference of the customer. Usage recorded under any of them is added up. */
  readonly customerRefs: readonly string[]
}

export type CounterParts = {
  readonly hotState: HotState
  readonly eventLog: EventLog
  /** Returns the number of partitions of the environment's usage topic. */
  readonly partitionCount: (environment: Environment) => number
  readonly progress: CounterProgress
  readonly limits: {
    /** How long to wait until the counters include all records acknowledged before the call, in milliseconds. */
    readonly countersWaitMs: number
  }
}

/** Returns the usage of each window by its id, in 10^-6 units, as far as it has been counted. */
export async function readCountedAmounts(
  parts: CounterParts,
  environment: Environment,
  providerId: string,
  { productRef, customerRefs }: CountedProduct,
): Promise<Map<string, bigint>> {
  const counted = await Promise.all(
    customerRefs.map(async (reference) => {
      const subject = subjectKey(providerId, reference)
      const partition = partitionOf(subject, parts.partitionCount(environment))
      const key = { space: environment, partition, subject, scope: productRef }
      const view = await parts.hotState.readEntry(key, requestsMeterName)
      return view.amounts
    }),
  )
  return sumByKey(counted)
}

/**
 * Waits until the counters of these references include every record that the log contained at the time of the call, so that a read
 * after an acknowledgement includes the usage. Returns false if this takes too long, or if the counters made no progress for that
 * time.
 */
export async function waitForCounters(
  parts: CounterParts,
  environment: Environment,
  providerId: string,
  references: Iterable<string>,
): Promise<boolean> {
  const topic = usageTopic(environment)
  const deadlineMs = performance.now() + parts.limits.countersWaitMs
  for (const partition of partitionsOf(parts, environment, providerId, references)) {
    const head = await parts.eventLog.head(topic, partition)
    for (;;) {
      const appliedOffset = await parts.hotState.appliedOffset(environment, partition)
      if (appliedOffset >= head) break
      const lag = { at: { space: environment, partition }, appliedOffset, head }
      const patienceMs = parts.progress.patienceWithoutTailMs([lag], parts.limits.countersWaitMs)
      const leftMs = Math.min(patienceMs, deadlineMs - performance.now())
      if (leftMs <= 0) return false
      await parts.hotState.waitForApply(Math.min(leftMs, applyWaitMs))
    }
  }
  return true
}

/** Maximum duration of one sleep in milliseconds, in case a wake-up is lost. */
const applyWaitMs = 50

function partitionsOf(
  parts: CounterParts,
  environment: Environment,
  providerId: string,
  references: Iterable<string>,
): Set<number> {
  const count = parts.partitionCount(environment)
  const subjects = [...references].map((reference) => subjectKey(providerId, reference))
  return new Set(subjects.map((subject) => partitionOf(subject, count)))
}
