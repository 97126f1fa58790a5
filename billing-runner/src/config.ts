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
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'
import { hostedUrlSetting } from '@tollgate/domain/sessions/hosted-url'
import { scheduleSettings } from './schedule/schedule-settings.ts'

const milliseconds = { min: 1, max: 3_600_000 }

const retryHoursSetting: Setting<readonly number[]> = {
  variable: 'TOLLGATE_PAYMENT_RETRY_HOURS',
  description:
    'Hours after a failed charge of an invoice until the next one, for each of them in turn, with commas between; after the last one the purchase is suspended',
  defaultText: '5,24,72',
  parse: (text) => {
    const hours = text.split(',').map((each) => Number(each.trim() || NaN))
    if (hours.length <= 8 && hours.every((each) => each > 0 && each <= 720)) return hours
    throw new Error('must be up to 8 numbers of hours, each up to 720')
  },
}

/** Everything the billing runner can be told. Limits and intervals are safe as they are. */
export const billingRunnerSettings = {
  ...databaseSettings,
  ...databaseOwnerSettings,
  dataDir: dataDirSetting,
  ...eventLogSettings,
  ...hotStateSettings,
  ...clickHouseSettings,
  clickhouseTimeoutMs: integerSetting(
    'TOLLGATE_USAGE_QUERY_TIMEOUT_MS',
    'Milliseconds ClickHouse may take for one usage query',
    15_000,
    milliseconds,
  ),
  ...operatorSettings,
  databaseConnectionsMax: integerSetting(
    'TOLLGATE_DATABASE_CONNECTIONS_MAX',
    'Connections to each of the three schemas of PostgreSQL, for reading what is due and for changing it each',
    8,
    { min: 1, max: 500 },
  ),
  hostedUrl: hostedUrlSetting,
  ...stripeSettings,
  ...scheduleSettings,
  remindersAheadHours: integerSetting(
    'TOLLGATE_REMINDERS_AHEAD_HOURS',
    'Hours before the end of a trial or a period in which it is told of',
    72,
    { min: 1, max: 8_760 },
  ),
  paymentRetryHours: retryHoursSetting,
  paymentRetryJitterMinutes: integerSetting(
    'TOLLGATE_PAYMENT_RETRY_JITTER_MINUTES',
    'Minutes that are added to each of them at most, so that what failed together is not tried together',
    10,
    { min: 0, max: 720 },
  ),
  writeOffAfterDays: integerSetting(
    'TOLLGATE_WRITE_OFF_AFTER_DAYS',
    'Days in which nothing has happened to an invoice that could not be charged, and is tried no more, until it is written off; a purchase that was suspended for it expires then',
    60,
    { min: 1, max: 3_650 },
  ),
  usageGraceMinutes: integerSetting(
    'TOLLGATE_USAGE_GRACE_MINUTES',
    'Minutes from the end of a period until its usage is billed; what is recorded later is billed with the next one',
    60,
    { min: 0, max: 43_200 },
  ),
  usageStoredWaitMs: integerSetting(
    'TOLLGATE_USAGE_STORED_WAIT_MS',
    'Milliseconds to wait for ClickHouse to hold all usage that was acknowledged, before a bill is tried again later',
    10_000,
    { min: 0, max: 600_000 },
  ),
  lookIntervalMs: integerSetting(
    'TOLLGATE_SCHEDULE_LOOK_MS',
    'Milliseconds between two looks at the schedules and at what other runners left undone',
    1_000,
    milliseconds,
  ),
  batchItemsMax: integerSetting(
    'TOLLGATE_BILLING_BATCH_ITEMS_MAX',
    'Purchases or sessions that a runner claims at a time',
    500,
    { min: 1, max: 10_000 },
  ),
  itemsInFlightMax: integerSetting(
    'TOLLGATE_BILLING_ITEMS_IN_FLIGHT_MAX',
    'How many of them it works on at a time, in each environment and job',
    8,
    { min: 1, max: 500 },
  ),
  claimLeaseMs: integerSetting(
    'TOLLGATE_BILLING_CLAIM_LEASE_MS',
    'Milliseconds after which another runner takes over what one has claimed and not finished; longer than a batch takes',
    120_000,
    { min: 100, max: 3_600_000 },
  ),
  triesMax: integerSetting(
    'TOLLGATE_BILLING_TRIES_MAX',
    'How often something that fails is tried before it waits for the next run of its job',
    3,
    { min: 1, max: 100 },
  ),
  retryPauseMs: integerSetting(
    'TOLLGATE_BILLING_RETRY_PAUSE_MS',
    'Milliseconds between two tries',
    30_000,
    milliseconds,
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_BILLING_STUCK_AFTER_MS',
    'Milliseconds a run may stand still before this runner is unhealthy',
    600_000,
    { min: 1_000, max: 86_400_000 },
  ),
  sessionsKeptHours: integerSetting(
    'TOLLGATE_SESSIONS_KEPT_HOURS',
    'Hours that a customer session can be looked up after it has expired',
    168,
    { min: 0, max: 87_600 },
  ),
  reconcileDays: integerSetting(
    'TOLLGATE_RECONCILE_DAYS',
    'Days back from which on payments, refunds, disputes, payouts and invoices are compared by the scheduled reconciliation',
    7,
    { min: 1, max: 365 },
  ),
  reconcileGraceMinutes: integerSetting(
    'TOLLGATE_RECONCILE_GRACE_MINUTES',
    'Minutes within which a change may be known to one side alone, since its webhook is on its way',
    15,
    { min: 0, max: 1_440 },
  ),
  reconcileLookAgainMs: integerSetting(
    'TOLLGATE_RECONCILE_LOOK_AGAIN_MS',
    'Milliseconds before each of five more looks at a counter or a wallet that did not agree; longer than a change is on its way to it',
    1_000,
    milliseconds,
  ),
  reconcileFindingsMax: integerSetting(
    'TOLLGATE_RECONCILE_FINDINGS_MAX',
    'Findings of one provider that a report of a reconciliation lists; the others are counted',
    1_000,
    { min: 1, max: 100_000 },
  ),
  clearingOpenDays: integerSetting(
    'TOLLGATE_CLEARING_OPEN_DAYS',
    'Days that money may stay at the payment processor before it is reported not to be paid out; more than lie between two payouts',
    14,
    { min: 1, max: 365 },
  ),
  runsKeptDays: integerSetting(
    'TOLLGATE_BILLING_RUNS_KEPT_DAYS',
    'Days that it can be looked up what a job did, and what a reconciliation found',
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
