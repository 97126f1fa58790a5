import type { Environment } from '@tollgate/schemas/environment'
import { windowId } from '@tollgate/schemas/hot-state/documents'
import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { partitionOf, subjectKey } from '@tollgate/schemas/subject'
import { usageTopic } from '@tollgate/schemas/topics'
import type { AppParts } from '../http/app-parts.ts'

/** One period of one purchase. */
export type CountedPeriod = {
  readonly purchaseRef: string
  readonly productRef: string
  /** Every reference of the customer: what came in under any of them is added up. */
  readonly customerRefs: readonly string[]
  readonly periodStartSecond: number
}

type CounterParts = Pick<AppParts, 'hotState' | 'eventLog' | 'partitionCount' | 'limits'>

/** The usage of a period in 10^-6 units, as far as it has been counted. */
export async function readUsedMicros(
  parts: CounterParts,
  environment: Environment,
  providerId: string,
  period: CountedPeriod,
): Promise<bigint> {
  const id = windowId(period.purchaseRef, period.periodStartSecond)
  const amounts = await Promise.all(
    period.customerRefs.map(async (reference) => {
      const subject = subjectKey(providerId, reference)
      const partition = partitionOf(subject, parts.partitionCount(environment))
      const at = { space: environment, partition, subject, scope: period.productRef }
      const view = await parts.hotState.readEntry(at, requestsMeterName)
      return view.amounts.get(id) ?? 0n
    }),
  )
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}

/**
 * Waits until the counters of these references hold what the log held when this was called: whoever asks after an
 * acknowledgement finds the usage. False when that takes too long.
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
    while ((await parts.hotState.appliedOffset(environment, partition)) < head) {
      const leftMs = deadlineMs - performance.now()
      if (leftMs <= 0) return false
      await parts.hotState.waitForApply(Math.min(leftMs, applyWaitMs))
    }
  }
  return true
}

/** Bounds one sleep, in case a wake-up is lost. */
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
