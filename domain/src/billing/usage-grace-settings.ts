import { integerSetting } from '@tollgate/platform/config/settings'

/** The setting by which the billing runner bills usage, and previews say when it does. */
export const usageGraceSettings = {
  usageGraceMinutes: integerSetting(
    'TOLLGATE_USAGE_GRACE_MINUTES',
    'Minutes from the end of a period until its usage is billed; usage that is recorded later is billed with the next period',
    60,
    { min: 0, max: 43_200 },
  ),
}
