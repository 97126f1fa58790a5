import {
  listCustomersOfClock,
  lockTestClock,
  updateTestClock,
} from '@tollgate/domain/test-clocks/repository'
import type { TestClockStatus } from '@tollgate/domain/test-clocks/test-clock'
import type { Operation } from '@tollgate/domain/unit-of-work/unit-of-work'
import { commit } from '../access/commit.ts'
import type { RequestClock } from '../access/request-clock.ts'
import { closeCustomerOrRefuse, type CustomerClosingParts } from '../customers/close-customer.ts'

export type ClockDeletionParts = CustomerClosingParts & { readonly requestClock: RequestClock }

export type ClockDeletion =
  | { readonly kind: 'deleted' }
  | { readonly kind: 'not-found' }
  /** The clock is advancing, or a customer of it is being billed. */
  | { readonly kind: 'not-now'; readonly status: TestClockStatus | 'billing its customers' }

/**
 * Deletes a clock with its customers, one after the other, at the time of the clock. What they owe is written off. The clock is
 * paused first and marked, so that meanwhile nobody advances it and it gets no customers, and marked as deleted last: after a crash in
 * between, it is paused and has fewer customers, and the deletion is repeated. Its row stays, because the rows of deleted customers
 * name it.
 */
export async function deleteTestClock(
  parts: ClockDeletionParts,
  operation: Operation,
  reference: string,
): Promise<ClockDeletion> {
  const { providerId } = operation
  const held = await commit(parts, operation, async ({ sql, now }) => {
    const clock = await lockTestClock(sql, providerId, reference)
    if (clock === undefined || clock.status === 'advancing') return clock
    await updateTestClock(sql, providerId, {
      ...clock,
      ...{ status: 'paused', failure: null, isDeleting: true, updatedAt: now },
    })
    return clock
  })
  if (held === undefined) return { kind: 'not-found' }
  if (held.status === 'advancing') return { kind: 'not-now', status: held.status }
  const customers = await parts.database
    .of(providerId)
    .in(operation.environment)
    .read((sql) => listCustomersOfClock(sql, providerId, reference))
  const atClock = { ...operation, now: held.timeReached }
  for (const customerRef of customers) {
    const outcome = await parts.requestClock.runAt(held.timeReached, () =>
      closeCustomerOrRefuse(parts, atClock, customerRef, 'write_off'),
    )
    if (outcome.kind !== 'deleted' && outcome.kind !== 'not-found') {
      await giveUp(parts, operation, reference)
      return { kind: 'not-now', status: 'billing its customers' }
    }
  }
  const isGone = await commit(parts, operation, async ({ sql, now }) => {
    const clock = await lockTestClock(sql, providerId, reference)
    if (clock === undefined) return true
    // Another deletion that was given up may have let a customer in.
    if ((await listCustomersOfClock(sql, providerId, reference)).length > 0) return false
    await updateTestClock(sql, providerId, { ...clock, status: 'deleted', updatedAt: now })
    return true
  })
  return isGone ? { kind: 'deleted' } : deleteTestClock(parts, operation, reference)
}

/** Leaves the clock paused. It can be resumed, or deleted later. */
async function giveUp(
  parts: ClockDeletionParts,
  operation: Operation,
  reference: string,
): Promise<void> {
  const { providerId } = operation
  await commit(parts, operation, async ({ sql, now }) => {
    const clock = await lockTestClock(sql, providerId, reference)
    if (clock === undefined) return
    await updateTestClock(sql, providerId, { ...clock, isDeleting: false, updatedAt: now })
  })
}
