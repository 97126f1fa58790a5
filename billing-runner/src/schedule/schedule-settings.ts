import { scheduleSetting } from './schedule.ts'

/** When each job runs. What a runner missed, it makes up when it starts. */
export const scheduleSettings = {
  reminders: scheduleSetting(
    'TOLLGATE_SCHEDULE_REMINDERS',
    'the coming end of trials and periods is told of',
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
    'the usage of periods that are over is billed',
    '0 11 * * *',
  ),
  paymentRetries: scheduleSetting(
    'TOLLGATE_SCHEDULE_PAYMENT_RETRIES',
    'charges that failed are tried again whose time has come',
    '*/5 * * * *',
  ),
  writeOffs: scheduleSetting(
    'TOLLGATE_SCHEDULE_WRITE_OFFS',
    'invoices are written off that could not be charged, and are tried no more',
    '0 12 * * *',
  ),
  usageReset: scheduleSetting(
    'TOLLGATE_SCHEDULE_USAGE_RESET',
    'the beginning of periods is told of',
    '*/30 * * * *',
  ),
  endedPurchases: scheduleSetting(
    'TOLLGATE_SCHEDULE_ENDED_PURCHASES',
    'purchases whose end has passed become cancelled or expired; access ends by itself, and to the second',
    '* * * * *',
  ),
  abandonedCheckouts: scheduleSetting(
    'TOLLGATE_SCHEDULE_ABANDONED_CHECKOUTS',
    'checkouts expire that nobody completed',
    '* * * * *',
  ),
  reconciliation: scheduleSetting(
    'TOLLGATE_SCHEDULE_RECONCILIATION',
    'what we have is compared with the payment processor, the ledger and the usage records',
    '0 3 * * *',
  ),
  cleanUp: scheduleSetting(
    'TOLLGATE_SCHEDULE_CLEAN_UP',
    'old sessions, tokens and records of runs are deleted',
    '15 * * * *',
  ),
}
