import { integerSetting, textSetting } from '@tollgate/platform/config/settings'

/** Settings of corrections of usage. */
export const correctionSettings = {
  ingestUrl: textSetting(
    'TOLLGATE_INGEST_URL',
    'Address of ingest, which appends the records of corrections of usage to the log',
    'http://127.0.0.1:8787',
  ),
  correctionIntervalMs: integerSetting(
    'TOLLGATE_CORRECTION_INTERVAL_MS',
    'How often requested corrections of usage are continued, in milliseconds',
    1_000,
    { min: 1, max: 3_600_000 },
  ),
  correctionPageRecords: integerSetting(
    'TOLLGATE_CORRECTION_PAGE_RECORDS',
    'Number of records that a correction of usage changes at a time. After a crash it continues with the page that was not finished',
    1_000,
    { min: 1, max: 1_000 },
  ),
  correctionWaitMs: integerSetting(
    'TOLLGATE_CORRECTION_WAIT_MS',
    'How long a request waits until its correction of usage is applied, in milliseconds. Larger corrections are continued after the response',
    3_000,
    { min: 0, max: 25_000 },
  ),
  correctionTriesMax: integerSetting(
    'TOLLGATE_CORRECTION_TRIES_MAX',
    'Tries of a correction of usage that end with an error, after which later corrections of the provider go on without it. Waiting for a part that is behind or does not answer does not count',
    10,
    { min: 1, max: 1_000 },
  ),
  correctionRetryMinutes: integerSetting(
    'TOLLGATE_CORRECTION_RETRY_MINUTES',
    'Minutes after which a failed correction of usage is tried again',
    60,
    { min: 1, max: 10_080 },
  ),
  correctionPreviewRecordsMax: integerSetting(
    'TOLLGATE_CORRECTION_PREVIEW_RECORDS_MAX',
    'Maximum number of records of a dry run of a correction of usage. More get 409',
    100_000,
    { min: 1_000, max: 10_000_000 },
  ),
}
