import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  integerSetting,
  readSettings,
  type Setting,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  databaseOwnerSettings,
  databaseSettings,
} from '@tollgate/platform/database/postgres/database-settings'
import { eventLogSettings } from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { stripeSettings } from '@tollgate/platform/payments/stripe/stripe-settings'
import { outboundSettings } from '@tollgate/platform/outbound/outbound-settings'
import { secretSettings } from '@tollgate/platform/secrets/open-secrets'
import { taxServiceSettings } from '@tollgate/domain/tax-service/tax-service-settings'
import { taxRegisterSettings } from '@tollgate/platform/tax-register/tax-register-settings'
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { creditExpirySettings, walletSettings } from '@tollgate/domain/wallet/wallet-settings'
import { usageGraceSettings } from '@tollgate/domain/billing/usage-grace-settings'
import { hostedUrlSetting } from '@tollgate/domain/sessions/hosted-url'
import { scheduleSettings } from './schedule/schedule-settings.ts'

const milliseconds = { min: 1, max: 3_600_000 }

const retryHoursSetting: Setting<readonly number[]> = {
  variable: 'TOLLGATE_PAYMENT_RETRY_HOURS',
  description:
    'Delays between the charges of an unpaid invoice, in hours, separated by commas: the first is the time from the first failed charge to the second. After the last failed charge the purchase is suspended',
  defaultText: '5,24,72',
  parse: (text) => {
    const hours = text.split(',').map((each) => Number(each.trim() || NaN))
    if (hours.length <= 8 && hours.every((each) => each > 0 && each <= 720)) return hours
    throw new Error('must be up to 8 numbers of hours, each up to 720')
  },
}

/** Settings of the billing runner. The defaults of limits and intervals are safe for production. */
export const billingRunnerSettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...eventLogSettings,
  ...hotStateSettings,
  ...clickHouseSettings,
  clickhouseTimeoutMs: integerSetting(
    'TOLLGATE_USAGE_QUERY_TIMEOUT_MS',
    'Timeout of one usage query to ClickHouse, in milliseconds',
    15_000,
    milliseconds,
  ),
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Maximum connections to PostgreSQL for each of the three schemas, counted separately for reading and for writing',
    8,
    { min: 1, max: 500 },
  ),
  hostedUrl: hostedUrlSetting,
  creditsHeldMax: walletSettings.creditsHeldMax,
  ...creditExpirySettings,
  ...stripeSettings,
  ...taxRegisterSettings,
  ...taxServiceSettings,
  ...outboundSettings,
  ...secretSettings,
  ...scheduleSettings,
  remindersAheadHours: integerSetting(
    'TOLLGATE_REMINDERS_AHEAD_HOURS',
    'How many hours before the end of a trial or a period its reminder event is emitted',
    72,
    { min: 1, max: 8_760 },
  ),
  paymentRetryHours: retryHoursSetting,
  paymentRetryJitterMinutes: integerSetting(
    'TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES',
    'Maximum random addition to a retry delay, in minutes, so that charges that failed together are not retried together',
    10,
    { min: 0, max: 720 },
  ),
  writeOffAfterDays: integerSetting(
    'TOLLGATE_WRITE_OFF_AFTER_DAYS',
    'Days without any change after which an invoice is written off that could not be charged and has no retries left; a purchase that was suspended for it expires',
    60,
    { min: 1, max: 3_650 },
  ),
  ...usageGraceSettings,
  usageStoredWaitMs: integerSetting(
    'TOLLGATE_USAGE_STORED_WAIT_MS',
    'How long a bill waits until ClickHouse has stored all acknowledged usage, in milliseconds; after that, the bill is retried later',
    10_000,
    { min: 0, max: 600_000 },
  ),
  lookIntervalMs: integerSetting(
    'TOLLGATE_SCHEDULE_LOOK_MS',
    'How often the schedules and the expired claims of other runners are checked, in milliseconds',
    1_000,
    milliseconds,
  ),
  batchItemsMax: integerSetting(
    'TOLLGATE_BILLING_BATCH_ITEMS_MAX',
    'Maximum purchases or sessions that one claim takes',
    500,
    { min: 1, max: 10_000 },
  ),
  itemsInFlightMax: integerSetting(
    'TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX',
    'Maximum claimed items that are processed concurrently, per environment and job',
    8,
    { min: 1, max: 500 },
  ),
  claimLeaseMs: integerSetting(
    'TOLLGATE_BILLING_CLAIM_LEASE_MS',
    'Lease of a claim, in milliseconds; another runner may take over the items when the lease has expired. Must be longer than a batch takes',
    120_000,
    { min: 100, max: 3_600_000 },
  ),
  triesMax: integerSetting(
    'TOLLGATE_BILLING_TRIES_MAX',
    'Maximum attempts for a failing item before it waits for the next run of its job',
    3,
    { min: 1, max: 100 },
  ),
  retryPauseMs: integerSetting(
    'TOLLGATE_BILLING_RETRY_PAUSE_MS',
    'How long a failed item waits before its next attempt, in milliseconds',
    30_000,
    milliseconds,
  ),
  planMigrationPageMax: integerSetting(
    'TOLLGATE_PLAN_MIGRATION_PAGE_MAX',
    'Maximum purchases that a claim of a migration of a plan processes',
    200,
    { min: 1, max: 10_000 },
  ),
  scheduledGrantsMax: integerSetting(
    'TOLLGATE_SCHEDULED_GRANTS_MAX',
    'Maximum missed grants of one schedule that a run gives; the next run continues',
    100,
    { min: 1, max: 10_000 },
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_BILLING_STUCK_AFTER_MS',
    'Milliseconds without progress in a run after which this runner reports itself as unhealthy',
    600_000,
    { min: 1_000, max: 86_400_000 },
  ),
  testClockLookMs: integerSetting(
    'TOLLGATE_TEST_CLOCK_LOOK_MS',
    'How often a runner looks for test clocks to advance, in milliseconds',
    250,
    milliseconds,
  ),
  testClocksInFlightMax: integerSetting(
    'TOLLGATE_TEST_CLOCKS_IN_FLIGHT_MAX',
    'Maximum test clocks that a runner advances at the same time',
    2,
    { min: 1, max: 100 },
  ),
  testClockWaitMs: integerSetting(
    'TOLLGATE_TEST_CLOCK_WAIT_MS',
    'How long an advancing test clock waits until acknowledged usage is stored, in milliseconds; after that, its advance fails and can be resumed',
    120_000,
    milliseconds,
  ),
  sessionsKeptHours: integerSetting(
    'TOLLGATE_SESSIONS_KEPT_HOURS',
    'Hours for which a customer session can still be read after it has expired',
    168,
    { min: 0, max: 87_600 },
  ),
  reconcileDays: integerSetting(
    'TOLLGATE_RECONCILE_DAYS',
    'How many days back the scheduled reconciliation compares payments, refunds, disputes, payouts and invoices',
    7,
    { min: 1, max: 365 },
  ),
  reconcileGraceMinutes: integerSetting(
    'TOLLGATE_RECONCILE_GRACE_MINUTES',
    'Minutes for which a change may be known to one side only, because its webhook is still in transit',
    15,
    { min: 0, max: 1_440 },
  ),
  reconcileLookAgainMs: integerSetting(
    'TOLLGATE_RECONCILE_LOOK_AGAIN_MS',
    'How long the reconciliation waits before each of its five rechecks of a counter or wallet that differs, in milliseconds; longer than a change takes to arrive',
    1_000,
    milliseconds,
  ),
  reconcileFindingsMax: integerSetting(
    'TOLLGATE_RECONCILE_FINDINGS_MAX',
    'Maximum findings per provider that a reconciliation report lists; further findings are only counted',
    1_000,
    { min: 1, max: 100_000 },
  ),
  clearingOpenDays: integerSetting(
    'TOLLGATE_CLEARING_OPEN_DAYS',
    'Days for which money may stay at the payment processor before it is reported as not paid out; must be longer than the interval between two payouts',
    14,
    { min: 1, max: 365 },
  ),
  runsKeptDays: integerSetting(
    'TOLLGATE_BILLING_RUNS_KEPT_DAYS',
    'Days for which results of jobs and reports of reconciliations are kept',
    90,
    { min: 1, max: 3_650 },
  ),
}

export type BillingRunnerConfig = SettingValues<typeof billingRunnerSettings>

export function readBillingRunnerConfig(
  environment: Readonly<Record<string, string | undefined>>,
): BillingRunnerConfig {
  return readSettings(billingRunnerSettings, environment)
}
