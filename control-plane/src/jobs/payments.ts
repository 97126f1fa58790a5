import type { Service } from '@tollgate/platform/service/service'
import { rechargeWallets } from '@tollgate/domain/charging/recharge-wallets'
import { sweepEvents } from '@tollgate/domain/payments/inbox-repository'
import { pollEvents } from '@tollgate/domain/settlement/poll-events'
import { reconcilePayments } from '@tollgate/domain/settlement/reconcile-payments'
import { removeProcessorCustomers } from '@tollgate/domain/settlement/remove-processor-customers'
import { workOffInbox, type PaymentJobParts } from '@tollgate/domain/settlement/work-off-inbox'
import { foldProductMovements } from '@tollgate/domain/catalog/tallies'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { repeating } from './repeating.ts'

export type PaymentJobLimits = {
  readonly intervalMs: number
  /** Between two readings of the processor's own list of events. */
  readonly eventsPollMs: number
  /** How long an event of the processor is remembered. */
  readonly eventsKeptMs: number
}

/** Events of one round and environment that are forgotten: a stop waits for no more than that. */
const rowsPerRoundMax = 500

/** Payments, refunds and disputes of one round and environment that are added to their products. */
const movementsPerRoundMax = 10_000

/**
 * Adds payments to what their products have earned, follows what the payment processor tells, looks at payments of which it has told nothing, charges for wallets that have
 * run low, and has deleted customers forgotten. Several processes may do it at once: each takes what no other has.
 */
export function createPaymentJobs(parts: PaymentJobParts, limits: PaymentJobLimits): Service {
  const telling = async (environment: Environment, act: () => Promise<unknown>): Promise<void> => {
    try {
      await act()
    } catch (error) {
      parts.logger.error({ err: error, environment }, 'payments wait for the next round')
    }
  }
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      await telling(environment, () => foldMovements(parts, environment))
      if (parts.processors.of(environment) === undefined) continue
      await telling(environment, () => pollEvents(parts, environment, limits.eventsPollMs))
      await telling(environment, () => workOffInbox(parts, environment))
      await telling(environment, () => reconcilePayments(parts, environment))
      await telling(environment, () => rechargeWallets(parts, environment))
      await telling(environment, () => removeProcessorCustomers(parts, environment))
      await telling(environment, () => sweep(parts, environment, limits.eventsKeptMs))
    }
  }
  return repeating(round, limits.intervalMs)
}

/** A round folds at most so many rows. The sums count the rows that are left as well; the next round folds them. */
async function foldMovements(
  { everyone }: PaymentJobParts,
  environment: Environment,
): Promise<void> {
  await foldProductMovements(everyone.in(environment), movementsPerRoundMax)
}

async function sweep(
  { everyone, now }: PaymentJobParts,
  environment: Environment,
  keptMs: number,
): Promise<void> {
  const settledBefore = new Date(now().getTime() - keptMs)
  await sweepEvents(everyone.in(environment), settledBefore, rowsPerRoundMax)
}
