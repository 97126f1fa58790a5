import { scheduleSetting } from './schedule.ts'

/** When each job runs. A runner catches up missed runs when it starts. */
export const scheduleSettings = {
  reminders: scheduleSetting(
    'TOLLGATE_SCHEDULE_REMINDERS',
    'reminders of the end of trials and periods are sent',
    '0 * * * *',
  ),
  trialExpiry: scheduleSetting(
    'TOLLGATE_SCHEDULE_TRIAL_EXPIRY',
    'trials that have ended are converted or suspended',
    '0 8 * * *',
  ),
  renewals: scheduleSetting('TOLLGATE_SCHEDULE_RENEWALS', 'purchases are renewed', '0 10 * * *'),
  usageBilling: scheduleSetting(
    'TOLLGATE_SCHEDULE_USAGE_BILLING',
    'the usage of ended periods is billed',
    '0 11 * * *',
  ),
  thresholdBilling: scheduleSetting(
    'TOLLGATE_SCHEDULE_THRESHOLD_BILLING',
    'usage is billed within a period, once its unbilled part has reached the amount of the plan',
    '* * * * *',
  ),
  planMigrations: scheduleSetting(
    'TOLLGATE_SCHEDULE_PLAN_MIGRATIONS',
    'the changes of migrations of plans are scheduled, or withdrawn',
    '* * * * *',
  ),
  planChanges: scheduleSetting(
    'TOLLGATE_SCHEDULE_PLAN_CHANGES',
    'plans are changed whose change was scheduled for a time within a period',
    '* * * * *',
  ),
  scheduledGrants: scheduleSetting(
    'TOLLGATE_SCHEDULE_SCHEDULED_GRANTS',
    'the grants of schedules of credits are given',
    '* * * * *',
  ),
  paymentRetries: scheduleSetting(
    'TOLLGATE_SCHEDULE_PAYMENT_RETRIES',
    'failed charges that are due are retried',
    '*/5 * * * *',
  ),
  writeOffs: scheduleSetting(
    'TOLLGATE_SCHEDULE_WRITE_OFFS',
    'uncollectible invoices without retries are written off',
    '0 12 * * *',
  ),
  usageReset: scheduleSetting(
    'TOLLGATE_SCHEDULE_USAGE_RESET',
    'the beginning of periods is announced',
    '*/30 * * * *',
  ),
  packSettlement: scheduleSetting(
    'TOLLGATE_SCHEDULE_PACK_SETTLEMENT',
    'units of packs are settled at the end of periods and packs, and after refunds',
    '* * * * *',
  ),
  endedPurchases: scheduleSetting(
    'TOLLGATE_SCHEDULE_ENDED_PURCHASES',
    'purchases whose end has passed become cancelled or expired (access ends by itself, at the second)',
    '* * * * *',
  ),
  abandonedCheckouts: scheduleSetting(
    'TOLLGATE_SCHEDULE_ABANDONED_CHECKOUTS',
    'checkouts that were not completed expire',
    '* * * * *',
  ),
  taxIdChecks: scheduleSetting(
    'TOLLGATE_SCHEDULE_TAX_ID_CHECKS',
    'tax ids are looked up that have no answer from the register of the EU, or whose last answer is 90 days old',
    '*/5 * * * *',
  ),
  reconciliation: scheduleSetting(
    'TOLLGATE_SCHEDULE_RECONCILIATION',
    'our data is compared with the payment processor, the ledger and the usage records',
    '0 3 * * *',
  ),
  cleanUp: scheduleSetting(
    'TOLLGATE_SCHEDULE_CLEAN_UP',
    'old sessions, tokens and records of runs are deleted',
    '15 * * * *',
  ),
}
