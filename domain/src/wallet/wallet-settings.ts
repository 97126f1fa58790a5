import { integerSetting } from '@tollgate/platform/config/settings'

/** Settings of the processes that take credits for usage. */
export const walletSettings = {
  creditsHeldSeconds: integerSetting(
    'TOLLGATE_CREDITS_HELD_SECONDS',
    'Seconds that credits are held for a usage record that never arrives; must be much longer than it takes to write a record',
    600,
    { min: 60, max: 86_400 },
  ),
  creditsHeldMax: integerSetting(
    'TOLLGATE_CREDITS_HELD_MAX',
    'Maximum concurrent holds of one wallet: usage records that are not counted yet, and reservations, which may be half of the holds',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
}

/** Setting of the processes that announce the expiry of credits. */
export const creditExpirySettings = {
  creditExpiryNoticeDays: integerSetting(
    'TOLLGATE_CREDIT_EXPIRY_NOTICE_DAYS',
    'Days before credits expire at which `customer.credit.expiring` is emitted',
    7,
    { min: 1, max: 365 },
  ),
}
