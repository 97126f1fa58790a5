import { delaysSetting } from '@tollgate/platform/config/delays-setting'
import { integerSetting, type SettingValues } from '@tollgate/platform/config/settings'

const retryDelaysSetting = delaysSetting(
  'TOLLGATE_EMAIL_RETRY_DELAYS_SECONDS',
  'Delays between the attempts to send an email that the mail server has not accepted, in seconds, separated by commas. After the last attempt the email fails',
  '60,300,900,3600,10800,21600,43200,86400',
)

/** Settings of emails to customers. The mail server itself is in the settings of the sign-in of customers. */
export const emailSettings = {
  emailPollMs: integerSetting(
    'TOLLGATE_EMAIL_POLL_MS',
    'How often due emails are claimed, in milliseconds',
    1_000,
    { min: 10, max: 3_600_000 },
  ),
  emailConnectionsMax: integerSetting(
    'TOLLGATE_EMAIL_CONNECTIONS_MAX',
    'Maximum emails that one process hands to the mail server at the same time, per environment',
    4,
    { min: 1, max: 100 },
  ),
  emailTimeoutMs: integerSetting(
    'TOLLGATE_EMAIL_TIMEOUT_MS',
    'Maximum time of an attempt to send an email until the mail server waits for the text, and again until it has answered to the text, in milliseconds. An email whose process died while it handed the text over becomes `unknown` after twice this time',
    30_000,
    { min: 100, max: 600_000 },
  ),
  emailRetryDelaysSeconds: retryDelaysSetting,
  emailAgeHoursMax: integerSetting(
    'TOLLGATE_EMAIL_AGE_HOURS_MAX',
    'Hours after its event from which an email is not sent any more, because it would be out of date',
    72,
    { min: 1, max: 8_760 },
  ),
  emailLinkDays: integerSetting(
    'TOLLGATE_EMAIL_LINK_DAYS',
    'How long the link to the portal in an email can be used, in days. It requires a sign-in',
    30,
    { min: 1, max: 365 },
  ),
  emailsKeptDays: integerSetting(
    'TOLLGATE_EMAILS_KEPT_DAYS',
    'How long the list of emails that were sent, skipped or failed is stored, in days. The links to unsubscribe work as long',
    90,
    // The American CAN-SPAM Act wants unsubscribe links to work for 30 days.
    { min: 30, max: 3_650 },
  ),
  inboxMessagesMax: integerSetting(
    'TOLLGATE_INBOX_MESSAGES_MAX',
    'Maximum number of messages per environment on the page `/inbox`. The newest ones are kept, for a day',
    500,
    { min: 1, max: 10_000 },
  ),
}

export type EmailConfig = SettingValues<typeof emailSettings>
