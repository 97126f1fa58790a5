import type { CreditScheduleInput } from '@tollgate/schemas/http/credit-schedules'
import type { ValidationIssue } from '@tollgate/schemas/http/errors'
import { creditSchedulesMax } from '@tollgate/schemas/limits'
import { lockCustomer } from '../customers/repository.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { fieldFault } from '../plans/field-fault.ts'
import { lockPurchase } from '../purchases/repository.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { hasDate, isEnded, type CreditSchedule, type ScheduleTerms } from './credit-schedule.ts'
import { countOpenSchedules, findScheduleByKey, insertSchedule } from './repository.ts'

export type CreateScheduleOutcome =
  | { readonly kind: 'created'; readonly schedule: CreditSchedule }
  /** The customer was deleted meanwhile. */
  | { readonly kind: 'customer-not-found' }
  | { readonly kind: 'purchase-not-found'; readonly purchaseRef: string }
  /** The idempotency key was used with another request. */
  | { readonly kind: 'key-reused' }
  /** The customer has as many schedules as are allowed. */
  | { readonly kind: 'too-many' }
  | { readonly kind: 'invalid'; readonly issues: readonly ValidationIssue[] }

/** Creates a schedule of grants. A repeated request with the same idempotency key returns the first schedule. */
export async function createSchedule(
  work: UnitOfWork,
  customerRef: string,
  input: CreditScheduleInput,
): Promise<CreateScheduleOutcome> {
  const { sql, providerId, now, idempotencyKey } = work
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) {
    return { kind: 'customer-not-found' }
  }
  const inputSha256 = sha256OfInput([customerRef, JSON.stringify(input)])
  if (idempotencyKey !== null) {
    const before = await findScheduleByKey(sql, providerId, idempotencyKey)
    if (before !== undefined) {
      return before.inputSha256 === inputSha256
        ? { kind: 'created', schedule: before.schedule }
        : { kind: 'key-reused' }
    }
  }
  const schedule = newSchedule(customerRef, input, now)
  const issues = faultsOf(schedule, now)
  const { purchaseRef } = schedule
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  if (purchaseRef !== null) {
    if (purchase?.customerRef !== customerRef) return { kind: 'purchase-not-found', purchaseRef }
    if (isEnded(purchase)) {
      issues.push(fieldFault(['purchaseRef'], `The purchase ${purchaseRef} has ended.`))
    }
  }
  if (issues.length > 0) return { kind: 'invalid', issues }
  if ((await countOpenSchedules(sql, providerId, customerRef)) >= creditSchedulesMax) {
    return { kind: 'too-many' }
  }
  await insertSchedule(sql, providerId, schedule, { idempotencyKey, inputSha256 })
  return { kind: 'created', schedule }
}

function newSchedule(customerRef: string, input: CreditScheduleInput, now: Date): CreditSchedule {
  const first = input.startsAt === undefined ? now : new Date(input.startsAt)
  return {
    reference: generateReference('creditSchedule'),
    customerRef,
    purchaseRef: input.purchaseRef ?? null,
    credits: BigInt(input.credits),
    every: input.every,
    timeZone: input.timeZone ?? 'UTC',
    endsAt: input.endsAt === undefined ? null : new Date(input.endsAt),
    grantsMax: input.grantsMax ?? null,
    expiry: input.expiry ?? 'never',
    rollOverMax: BigInt(input.rollOverMax ?? 0),
    priority: input.priority ?? 0,
    reason: input.reason ?? null,
    countedFrom: first,
    step: 0,
    nextAt: first,
    grantsDue: 0,
    status: 'active',
    endReason: null,
    lookAt: first,
    createdAt: now,
    updatedAt: now,
  }
}

/** Returns what is wrong with a new schedule. Its first date may be the time of the request. */
function faultsOf(schedule: CreditSchedule, now: Date): ValidationIssue[] {
  const isInPast = schedule.countedFrom < now
  return [
    ...(isInPast
      ? [fieldFault(['startsAt'], 'The first date is in the past. Grant those credits at once.')]
      : []),
    ...(hasDate(schedule)
      ? []
      : [fieldFault(['endsAt'], 'The schedule ends before its first date.')]),
    ...rollOverFaults(schedule),
  ]
}

export function rollOverFaults({
  expiry,
  rollOverMax,
}: Pick<ScheduleTerms, 'expiry' | 'rollOverMax'>): ValidationIssue[] {
  if (expiry === 'next_grant' || rollOverMax === 0n) return []
  const message = 'Credits roll over only if grants expire with the next one: use `next_grant`.'
  return [fieldFault(['rollOverMax'], message)]
}
