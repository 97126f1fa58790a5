import type { PublicationSpace } from '@tollgate/domain/publications/repository'
import { withoutSlash } from '@tollgate/domain/sessions/hosted-url'
import { environments } from '@tollgate/schemas/environment'
import { timestampPastMsMax } from '@tollgate/schemas/limits'
import type { BillingRunnerConfig } from '../config.ts'
import type { Parts } from '../open-parts.ts'
import type { Schedule } from '../schedule/schedule.ts'
import { createUsageBilling } from './bill-usage.ts'
import { createPlanChanges } from './change-plans.ts'
import { createCleanUp } from './clean-up.ts'
import { createEndedPurchases } from './end-purchases.ts'
import { createTrialExpiry } from './end-trials.ts'
import { createAbandonedCheckouts } from './expire-checkouts.ts'
import { createTaxIdChecks } from './check-tax-ids.ts'
import { createScheduledGrants } from './grant-credits.ts'
import type { Job } from './job.ts'
import { createPlanMigrations } from './migrate-plans.ts'
import { createReminders } from './remind.ts'
import { createRenewals } from './renew.ts'
import { createUsageReset } from './reset-usage.ts'
import { createPackSettlement } from './settle-packs.ts'
import { createRetries } from './retry-charges.ts'
import { createThresholdBilling } from './bill-thresholds.ts'
import { createWriteOffs } from './write-off-invoices.ts'

export type ScheduledJob = {
  readonly job: Job
  /** Undefined if the job runs only by hand. */
  readonly schedule: Schedule | undefined
  /** The schemas in which the job has work. */
  readonly spaces: readonly PublicationSpace[]
}

/** The parts that jobs use in addition to the database. */
export type JobParts = Pick<
  Parts,
  'charge' | 'clock' | 'eventLog' | 'hotState' | 'taxRegister' | 'usageStore'
>

/** Sandbox customers have invented tax ids. */
const live = ['live'] as const

/** Returns every job, in the order of a run by hand. */
export function createJobs(config: BillingRunnerConfig, parts: JobParts): ScheduledJob[] {
  const { charge, clock, eventLog, hotState, taxRegister, usageStore } = parts
  const jitterMs = config.paymentRetryJitterMinutes * 60_000
  const charging = { charge, delays: { hours: config.paymentRetryHours, jitterMs } }
  const hourMs = 3_600_000
  const dayMs = 24 * hourMs
  const cleanUp = createCleanUp({
    sessionsMs: config.sessionsKeptHours * hourMs,
    runsMs: config.runsKeptDays * dayMs,
  })
  const renewals = createRenewals(charging)
  const measuring = {
    eventLog,
    usageStore,
    now: () => new Date(clock.now()),
    storedWaitMs: config.usageStoredWaitMs,
  }
  const packs = createPackSettlement(measuring)
  const thresholdBilling = createThresholdBilling({
    ...{ charging, packs, measuring },
    lateMs: timestampPastMsMax,
  })
  const usageBilling = createUsageBilling({
    charging,
    renewals,
    packs,
    delays: { graceMs: config.usageGraceMinutes * 60_000, lateMs: timestampPastMsMax },
    measuring,
  })
  const environmentJobs: readonly (readonly [Job, Schedule | undefined])[] = [
    [createEndedPurchases(), config.endedPurchases],
    [createReminders(config.remindersAheadHours * hourMs), config.reminders],
    [createTrialExpiry(charging), config.trialExpiry],
    [renewals, config.renewals],
    [
      createPlanMigrations({
        pageMax: config.planMigrationPageMax,
        inFlightMax: config.itemsInFlightMax,
      }),
      config.planMigrations,
    ],
    [createPlanChanges(charging), config.planChanges],
    [usageBilling, config.usageBilling],
    [thresholdBilling, config.thresholdBilling],
    [createRetries(charging), config.paymentRetries],
    [createScheduledGrants(config, { log: eventLog, hotState }), config.scheduledGrants],
    [createWriteOffs(config.writeOffAfterDays * dayMs), config.writeOffs],
    [createUsageReset(measuring), config.usageReset],
    [packs, config.packSettlement],
    [createAbandonedCheckouts(withoutSlash(config.hostedUrl)), config.abandonedCheckouts],
  ]
  const taxIdChecks =
    taxRegister === undefined
      ? []
      : [{ job: createTaxIdChecks(taxRegister), schedule: config.taxIdChecks, spaces: live }]
  return [
    ...environmentJobs.map(([job, schedule]) => ({ job, schedule, spaces: environments })),
    ...taxIdChecks,
    { job: cleanUp, schedule: config.cleanUp, spaces: cleanUp.spaces },
  ]
}
