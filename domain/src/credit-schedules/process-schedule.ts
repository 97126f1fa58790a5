import { microsPerUnit } from '@tollgate/schemas/quantity'
import { lockCustomer } from '../customers/repository.ts'
import { findTransactionRef, sha256OfInput } from '../money-ledger/ledger.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCredits, storeInFlight } from '../wallet/add-credits.ts'
import type { HotWallet } from '../wallet/read-wallet.ts'
import { lockWallet } from '../wallet/repository.ts'
import {
  afterDate,
  decideGrant,
  ended,
  rolledOver,
  type CreditSchedule,
  type GrantDecision,
} from './credit-schedule.ts'
import { dateOf } from './dates.ts'
import {
  expireScheduledGrants,
  findSchedule,
  insertScheduledGrant,
  lockSchedule,
  readExpiredOfLast,
  updateSchedule,
  type ScheduledGrant,
} from './repository.ts'

/** `more`: another date of the schedule may have come, too. */
export type ProcessOutcome = 'nothing' | 'more'

/**
 * Processes the next date of a schedule: gives its grant, or records that it has lapsed. The grant, its row and the next date are
 * stored in one transaction, so a crash leaves either all of them or none. `hot` is the wallet just before; the caller has expired
 * the due grants of the wallet, so that what is left of the last grant can roll over.
 */
export async function processSchedule(
  work: UnitOfWork,
  scheduleRef: string,
  hot: HotWallet | undefined,
): Promise<ProcessOutcome> {
  const { sql, providerId, now } = work
  const named = await findSchedule(sql, providerId, scheduleRef)
  if (named === undefined) return 'nothing'
  const { customerRef, purchaseRef } = named
  const customer = await lockCustomer(sql, providerId, customerRef)
  // A change of the purchase has locked it when it wakes the schedule, so the purchase is locked first.
  const purchase =
    purchaseRef === null ? undefined : await lockPurchase(sql, providerId, purchaseRef)
  const schedule = await lockSchedule(sql, providerId, scheduleRef)
  if (schedule === undefined) return 'nothing'
  if (customer === undefined) {
    // A deletion ends the schedules of its customer, so this is only reached if the rows were changed by hand.
    await updateSchedule(sql, providerId, ended(schedule, 'customer_deleted', now))
    return 'nothing'
  }
  const following = await dateOf(sql, schedule, schedule.step + 1)
  const decision = decideGrant(schedule, purchase, following, now)
  switch (decision.kind) {
    case 'nothing':
      await updateSchedule(sql, providerId, { ...schedule, lookAt: lookAgain(schedule) })
      return 'nothing'
    case 'wait':
      await updateSchedule(sql, providerId, { ...schedule, lookAt: null })
      return 'nothing'
    case 'end':
      if (purchase?.status === 'refunded') await expireGrants(work, schedule, hot)
      await updateSchedule(sql, providerId, ended(schedule, decision.reason, now))
      return 'nothing'
    case 'lapse':
    case 'grant': {
      const grant = await giveGrant(work, schedule, hot, decision)
      await insertScheduledGrant(sql, providerId, scheduleRef, grant)
      await updateSchedule(sql, providerId, afterDate(schedule, following, now))
      return 'more'
    }
  }
}

/** Returns when the job processes the schedule again after a change of its purchase had no effect. */
function lookAgain({ status, nextAt }: CreditSchedule): Date | null {
  return status === 'active' ? nextAt : null
}

async function giveGrant(
  work: UnitOfWork,
  schedule: CreditSchedule,
  hot: HotWallet | undefined,
  decision: Extract<GrantDecision, { kind: 'lapse' | 'grant' }>,
): Promise<ScheduledGrant> {
  const { sql, providerId, now } = work
  const { reference, customerRef, nextAt, grantsDue, priority, reason } = schedule
  const number = grantsDue + 1
  const expiresAt = decision.expiresAt
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  const rolled = rolledOver(schedule, await readExpiredOfLast(sql, providerId, schedule))
  const credits = schedule.credits + rolled
  const date = { number, dueAt: nextAt ?? now, expiresAt, processedAt: now }
  const due = { ...date, transactionRef: null, credits, rolledOver: rolled }
  if (decision.kind === 'lapse') return { ...due, outcome: 'lapsed' }
  const key = `scheduled:${reference}:${number}`
  const addition = {
    customerRef,
    amountMicros: credits * BigInt(microsPerUnit),
    kind: 'grant',
    key,
    inputSha256: sha256OfInput([customerRef, credits.toString()]),
    reason,
    from: 'granted',
    event: 'granted',
    paid: null,
    priority,
    expiresAt,
  } as const
  const result = { schedule: reference, number, credits: Number(credits) }
  const outcome = await addCredits(work, wallet, hot, addition, () => result)
  if (outcome.kind === 'full') return { ...due, credits: 0n, rolledOver: 0n, outcome: 'refused' }
  const transactionRef = (await findTransactionRef(sql, providerId, key)) ?? null
  return { ...due, outcome: 'granted', transactionRef }
}

/** Credits that came with a purchase end with its refund: otherwise a customer could keep them and the money. */
async function expireGrants(
  work: UnitOfWork,
  { reference, customerRef }: CreditSchedule,
  hot: HotWallet | undefined,
): Promise<void> {
  const { sql, providerId, now } = work
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  // An earlier expiry changes the order of the grants.
  await storeInFlight(work, customerRef, wallet, hot)
  await expireScheduledGrants(sql, providerId, reference, now)
}
