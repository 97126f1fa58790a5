import type { Service } from '@tollgate/platform/service/service'
import { rechargeWallets } from '@tollgate/domain/charging/recharge-wallets'
import { sweepEvents } from '@tollgate/domain/payments/inbox-repository'
import { pollEvents } from '@tollgate/domain/settlement/poll-events'
import { reconcilePayments } from '@tollgate/domain/settlement/reconcile-payments'
import { resumeRefunds } from '@tollgate/domain/settlement/resume-refunds'
import { removeProcessorCustomers } from '@tollgate/domain/settlement/remove-processor-customers'
import { processInbox, type PaymentJobParts } from '@tollgate/domain/settlement/process-inbox'
import { foldProductMovements } from '@tollgate/domain/catalog/tallies'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { repeating, reportFailure } from './repeating.ts'

export type PaymentJobLimits = {
  readonly intervalMs: number
  /** Time between two reads of the processor's list of events, in milliseconds. */
  readonly eventsPollMs: number
  /** How long events of the processor are stored, in milliseconds. */
  readonly eventsKeptMs: number
}

/** Maximum number of events that one round deletes in an environment, so that a stop does not wait longer. */
const rowsPerRoundMax = 500

/** Maximum number of payments, refunds and disputes that one round adds to the totals of products in an environment. */
const movementsPerRoundMax = 10_000

/**
 * Adds payments to the totals of their products, processes events of the payment processor, reconciles payments without an event,
 * continues requested refunds, recharges wallets with a low balance, and removes deleted customers at the processor. Several processes may run it at the same
 * time: each claims different rows.
 */
export function createPaymentJobs(parts: PaymentJobParts, limits: PaymentJobLimits): Service {
  const run = (environment: Environment, step: () => Promise<unknown>): Promise<void> =>
    reportFailure(step, (err) =>
      parts.logger.error(
        { err, environment },
        'could not process payments; the next round retries',
      ),
    )
  const round = async (): Promise<void> => {
    for (const environment of environments) {
      await run(environment, () => foldMovements(parts, environment))
      if (parts.processors.of(environment) === undefined) continue
      await run(environment, () => pollEvents(parts, environment, limits.eventsPollMs))
      await run(environment, () => processInbox(parts, environment))
      await run(environment, () => reconcilePayments(parts, environment))
      await run(environment, () => resumeRefunds(parts, environment))
      await run(environment, () => rechargeWallets(parts, environment))
      await run(environment, () => removeProcessorCustomers(parts, environment))
      await run(environment, () => deleteOldEvents(parts, environment, limits.eventsKeptMs))
    }
  }
  return repeating(round, limits.intervalMs)
}

/** Adds a limited number of rows to the totals of products. Sums also include the remaining rows, which the next round adds. */
async function foldMovements(
  { everyone }: PaymentJobParts,
  environment: Environment,
): Promise<void> {
  await foldProductMovements(everyone.in(environment), movementsPerRoundMax)
}

async function deleteOldEvents(
  { everyone, now }: PaymentJobParts,
  environment: Environment,
  keptMs: number,
): Promise<void> {
  const processedBefore = new Date(now().getTime() - keptMs)
  await sweepEvents(everyone.in(environment), processedBefore, rowsPerRoundMax)
}
