import { integerSetting } from '@tollgate/platform/config/settings'

/** Limits of the requests to tax services of providers. */
export const taxServiceSettings = {
  taxServiceTimeoutMs: integerSetting(
    'TOLLGATE_TAX_SERVICE_TIMEOUT_MS',
    'How long an invoice or a payment waits for the answer of the tax service of its provider, in milliseconds',
    3_000,
    { min: 100, max: 60_000 },
  ),
  taxServiceConnectionsMax: integerSetting(
    'TOLLGATE_TAX_SERVICE_CONNECTIONS_MAX',
    'Maximum connections of one process to one tax service; further requests wait, and their timeout runs',
    16,
    { min: 1, max: 1_000 },
  ),
  taxServiceFailuresMax: integerSetting(
    'TOLLGATE_TAX_SERVICE_FAILURES_MAX',
    'Failed requests in a row after which a process pauses asking a tax service',
    3,
    { min: 1, max: 1_000 },
  ),
  taxServicePauseMs: integerSetting(
    'TOLLGATE_TAX_SERVICE_PAUSE_MS',
    'How long a tax service that failed counts as failed without being asked, in milliseconds',
    10_000,
    { min: 0, max: 3_600_000 },
  ),
}

/** Maximum bytes of an answer. Ten rates have a few kilobytes. */
export const taxServiceAnswerBytesMax = 16_384
