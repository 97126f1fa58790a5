import { integerSetting } from '@tollgate/platform/config/settings'

/** The billing runner bills usage after this delay, and previews show the time of the bill by it. */
export const usageGraceSettings = {
  usageGraceMinutes: integerSetting(
    'TOLLGATE_USAGE_GRACE_MINUTES',
    'Minutes from the end of a period until its usage is billed; usage that is recorded later is billed with the next period',
    60,
    { min: 0, max: 43_200 },
  ),
}
