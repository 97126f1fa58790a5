import { dataDirSetting } from '@tollgate/platform/config/data-dir'
import {
  choiceSetting,
  integerSetting,
  readSettings,
  type SettingValues,
} from '@tollgate/platform/config/settings'
import {
  eventLogGroupSettings,
  eventLogSettings,
} from '@tollgate/platform/event-log/event-log-settings'
import { hotStateSettings } from '@tollgate/platform/hot-state/hot-state-settings'
import { clickHouseSettings } from '@tollgate/platform/usage-store/clickhouse/clickhouse-settings'
import { operatorSettings } from '@tollgate/platform/service/operator-settings'

const milliseconds = { min: 1, max: 3_600_000 }
const bytes = { min: 65_536, max: 268_435_456 }
const days = { min: 1, max: 3_650 }
/**
 * No event that ingest accepts becomes a row of more than twice its bytes. ClickHouse would refuse a batch that is too large again
 * at every retry. With this maximum, rows of any content stay below the 64 MiB that the embedded ClickHouse accepts.
 */
export const sinkBatchBytesMax = 10_485_760

/** All settings of the aggregator, with safe defaults for limits and intervals. */
export const aggregatorSettings = {
  projection: choiceSetting(
    'TOLLGATE_PROJECTION',
    'Projections of the log that this process runs',
    ['all', 'counters', 'sink'],
    'all',
  ),
  dataDir: dataDirSetting,
  ...eventLogSettings,
  ...eventLogGroupSettings,
  ...hotStateSettings,
  ...clickHouseSettings,
  clickhouseTimeoutMs: integerSetting(
    'TOLLGATE_CLICKHOUSE_TIMEOUT_MS',
    'Milliseconds that ClickHouse may take to insert one batch',
    60_000,
    milliseconds,
  ),
  clickhouseFillTimeoutMs: integerSetting(
    'TOLLGATE_CLICKHOUSE_FILL_TIMEOUT_MS',
    'Milliseconds that ClickHouse may take to fill one roll-up with the stored usage of a month, during an upgrade',
    14_400_000,
    { min: 60_000, max: 172_800_000 },
  ),
  ...operatorSettings,
  countersBatchRecordsMax: integerSetting(
    'TOLLGATE_COUNTERS_BATCH_RECORDS_MAX',
    'Maximum number of records that are counted in one atomic step',
    5_000,
    { min: 1, max: 100_000 },
  ),
  countersBatchBytesMax: integerSetting(
    'TOLLGATE_COUNTERS_BATCH_BYTES_MAX',
    'Maximum bytes of log records that are counted in one atomic step',
    8_388_608,
    bytes,
  ),
  replayRecordsMax: integerSetting(
    'TOLLGATE_REPLAY_RECORDS_MAX',
    'A partition with lost counts is counted again from the log if fewer records than this are stored; otherwise its counts are rebuilt from ClickHouse',
    500_000,
    { min: 0, max: 1_000_000_000 },
  ),
  sinkBatchRowsMax: integerSetting(
    'TOLLGATE_SINK_BATCH_ROWS_MAX',
    'Maximum number of records of one insert; a partition with as many waiting records is stored immediately',
    20_000,
    { min: 1, max: 500_000 },
  ),
  sinkBatchBytesMax: integerSetting(
    'TOLLGATE_SINK_BATCH_BYTES_MAX',
    'Maximum bytes of log records that one insert stores; its rows may be twice as large',
    8_388_608,
    { min: 65_536, max: sinkBatchBytesMax },
  ),
  sinkDelayMs: integerSetting(
    'TOLLGATE_SINK_DELAY_MS',
    'Milliseconds that a record may wait for further records before it is stored',
    500,
    milliseconds,
  ),
  sinkConcurrencyMax: integerSetting(
    'TOLLGATE_SINK_CONCURRENCY_MAX',
    'Maximum number of batches that are stored at a time, at most one per partition',
    3,
    { min: 1, max: 64 },
  ),
  sinkCountersWaitMs: integerSetting(
    'TOLLGATE_SINK_COUNTERS_WAIT_MS',
    'Milliseconds that the sink waits for the counters projection to set deduplication marks before it claims them itself',
    200,
    milliseconds,
  ),
  totalsRangeRecords: integerSetting(
    'TOLLGATE_USAGE_TOTALS_RANGE_RECORDS',
    'Records of a log partition whose sums are stored together, so that bills read the sums; 0 stores no further sums',
    1_048_576,
    { min: 0, max: 1_000_000_000 },
  ),
  totalsIntervalMs: integerSetting(
    'TOLLGATE_USAGE_TOTALS_INTERVAL_MS',
    'Milliseconds between two checks for stored records that can be summed',
    10_000,
    milliseconds,
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_STUCK_AFTER_MS',
    'Milliseconds that a projection may make no progress while records wait, before readiness fails',
    30_000,
    milliseconds,
  ),
  repairRequestsIntervalMs: integerSetting(
    'TOLLGATE_REPAIR_REQUESTS_INTERVAL_MS',
    'Milliseconds between two checks for requests to recount a partition or to store it again',
    1_000,
    milliseconds,
  ),
  observeIntervalMs: integerSetting(
    'TOLLGATE_OBSERVE_INTERVAL_MS',
    'Milliseconds between two measurements of the lag',
    1_000,
    milliseconds,
  ),
  housekeepingIntervalMs: integerSetting(
    'TOLLGATE_HOUSEKEEPING_INTERVAL_MS',
    'Milliseconds between two rounds that delete expired data',
    60_000,
    milliseconds,
  ),
  marksRetentionDays: integerSetting(
    'TOLLGATE_MARKS_RETENTION_DAYS',
    'Days for which a repeated idempotency key is recognized',
    35,
    days,
  ),
  windowsRetentionDays: integerSetting(
    'TOLLGATE_WINDOWS_RETENTION_DAYS',
    'Days that the counters of an ended period are kept',
    35,
    // The counters determine how many units carry over to the next period, until that amount is final.
    { ...days, min: 33 },
  ),
  slotsRetentionDays: integerSetting(
    'TOLLGATE_SLOTS_RETENTION_DAYS',
    'Days that usage waits for its customer or purchase to be created',
    31,
    days,
  ),
  knownSubjectSlotsRetentionMinutes: integerSetting(
    'TOLLGATE_KNOWN_SUBJECT_SLOTS_RETENTION_MINUTES',
    'Minutes that usage of a known customer waits for its purchase to be created',
    10,
    // The first period counts records of the five minutes before it, so these must still exist.
    { min: 10, max: 100_000 },
  ),
  sweepKeysMax: integerSetting(
    'TOLLGATE_SWEEP_KEYS_MAX',
    'Maximum number of keys that are deleted from the hot state in one step',
    1_000,
    { min: 1, max: 100_000 },
  ),
}

export type AggregatorConfig = SettingValues<typeof aggregatorSettings>

export function readAggregatorConfig(
  environment: Readonly<Record<string, string | undefined>>,
): AggregatorConfig {
  return readSettings(aggregatorSettings, environment)
}
