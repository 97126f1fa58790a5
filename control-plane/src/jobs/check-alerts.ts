import {
  claimChecks,
  postponeCheck,
  type ClaimedCheck,
} from '@tollgate/domain/alerts/checks-repository'
import { deleteExpiredFirings } from '@tollgate/domain/alerts/firings-repository'
import { UsageBehindError } from '@tollgate/domain/entitlements/usage-behind-error'
import { forEachConcurrently } from '@tollgate/domain/postgres/for-each-concurrently'
import type { Service } from '@tollgate/platform/service/service'
import { UsageStoreUnavailableError } from '@tollgate/platform/usage-store/usage-store'
import { environments, type Environment } from '@tollgate/schemas/environment'
import { checkCustomer, type AlertParts } from '../alerts/check-customer.ts'
import { RefusalError } from '../refusal.ts'
import { findUsedCustomers, type FinderParts } from './find-used-customers.ts'
import { repeatingInEach, reportFailure } from './repeating.ts'

export type AlertJobParts = FinderParts & AlertParts

export type AlertJobLimits = {
  /** Pause between two rounds, in milliseconds. */
  readonly intervalMs: number
  /** Maximum number of customers that one process checks concurrently. */
  readonly inFlightMax: number
}

/** Customers of one claim. */
const checksPerClaimMax = 100

/** Time after which a check whose process died is claimed again, in milliseconds. A check takes far less. */
const leaseMs = 60_000

/** A check that fails, for example because the usage store is away, is repeated after these delays, in milliseconds. */
const delays = { firstMs: 1_000, longestMs: 60_000 }

/**
 * Compares the usage of customers with alerts and budgets, shortly after it was stored. A round costs as much as the customers who
 * used something since the last one, and nothing for each record or for other customers. Several processes may run it at the same
 * time: one of them claims each customer.
 */
export function createAlertJob(
  parts: AlertJobParts,
  { intervalMs, inFlightMax }: AlertJobLimits,
): Service {
  const message = 'could not compare usage with alerts; the next round retries'
  const rounds = repeatingInEach(
    parts.logger,
    message,
    (environment) => runAlertRound(parts, environment, inFlightMax),
    intervalMs,
  )
  return {
    // Stores the positions of a new installation before an alert can be created in it.
    start: async () => {
      for (const environment of environments) {
        await reportFailure(
          () => findUsedCustomers(parts, environment),
          (err) => parts.logger.error({ err, environment }, message),
        )
      }
      await rounds.start()
    },
    stop: () => rounds.stop(),
  }
}

/** Finds the customers who used something, and checks all that are due. */
export async function runAlertRound(
  parts: AlertJobParts,
  environment: Environment,
  inFlightMax: number,
): Promise<void> {
  await findUsedCustomers(parts, environment)
  const pool = parts.publisher.database.in(environment)
  for (;;) {
    const claimed = await claimChecks(pool, { checksMax: checksPerClaimMax, leaseMs })
    await forEachConcurrently(claimed, inFlightMax, (check) =>
      checkOrPostpone(parts, environment, check),
    )
    if (claimed.length < checksPerClaimMax) break
  }
  await deleteExpiredFirings(pool, parts.publisher.now())
}

/** A failure of one customer must not delay the others. */
async function checkOrPostpone(
  parts: AlertJobParts,
  environment: Environment,
  check: ClaimedCheck,
): Promise<void> {
  try {
    await checkCustomer(parts, environment, check)
  } catch (err) {
    const isExpected =
      err instanceof UsageStoreUnavailableError ||
      err instanceof UsageBehindError ||
      err instanceof RefusalError
    const { providerId, customerRef } = check
    const message = 'could not compare the usage of a customer with alerts; it is tried again'
    parts.logger[isExpected ? 'warn' : 'error'](
      { err, environment, providerId, customerRef },
      message,
    )
    await postponeCheck(parts.publisher.database.in(environment), check, delays)
  }
}
