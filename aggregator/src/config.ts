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
 * No event that ingest takes becomes a row of twice its bytes. Rows that the store refuses for their size would be
 * refused for ever, so what a client can make of this many stays below the 64 MiB that the embedded ClickHouse takes.
 */
export const sinkBatchBytesMax = 10_485_760

/** Everything the aggregator can be told. Limits and intervals are safe as they are. */
export const aggregatorSettings = {
  projection: choiceSetting(
    'TOLLGATE_PROJECTION',
    'Which projections of the log this process runs',
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
    'Milliseconds ClickHouse may take for one batch',
    60_000,
    milliseconds,
  ),
  ...operatorSettings,
  countersBatchRecordsMax: integerSetting(
    'TOLLGATE_COUNTERS_BATCH_RECORDS_MAX',
    'Records counted in one atomic step',
    5_000,
    { min: 1, max: 100_000 },
  ),
  countersBatchBytesMax: integerSetting(
    'TOLLGATE_COUNTERS_BATCH_BYTES_MAX',
    'Bytes of the log counted in one atomic step',
    8_388_608,
    bytes,
  ),
  replayRecordsMax: integerSetting(
    'TOLLGATE_REPLAY_RECORDS_MAX',
    'A lost partition with fewer stored records is counted from the log again; the counts of one with as many are made from ClickHouse',
    500_000,
    { min: 0, max: 1_000_000_000 },
  ),
  sinkBatchRowsMax: integerSetting(
    'TOLLGATE_SINK_BATCH_ROWS_MAX',
    'Rows of one insert; a partition with as many waiting is stored at once',
    20_000,
    { min: 1, max: 500_000 },
  ),
  sinkBatchBytesMax: integerSetting(
    'TOLLGATE_SINK_BATCH_BYTES_MAX',
    'Bytes of the log stored by one insert; its rows may be twice as large',
    8_388_608,
    { min: 65_536, max: sinkBatchBytesMax },
  ),
  sinkDelayMs: integerSetting(
    'TOLLGATE_SINK_DELAY_MS',
    'Milliseconds a record may wait for others before it is stored',
    500,
    milliseconds,
  ),
  sinkConcurrencyMax: integerSetting(
    'TOLLGATE_SINK_CONCURRENCY_MAX',
    'Batches in hand at a time, one per partition at most',
    3,
    { min: 1, max: 64 },
  ),
  sinkCountersWaitMs: integerSetting(
    'TOLLGATE_SINK_COUNTERS_WAIT_MS',
    'Milliseconds the sink lets the counters settle duplicates before it does so itself',
    200,
    milliseconds,
  ),
  stuckAfterMs: integerSetting(
    'TOLLGATE_STUCK_AFTER_MS',
    'Milliseconds a projection may stand still with records behind it before it is unhealthy',
    30_000,
    milliseconds,
  ),
  repairRequestsIntervalMs: integerSetting(
    'TOLLGATE_REPAIR_REQUESTS_INTERVAL_MS',
    'Milliseconds between two looks at whether a partition is to be counted or stored again',
    1_000,
    milliseconds,
  ),
  observeIntervalMs: integerSetting(
    'TOLLGATE_OBSERVE_INTERVAL_MS',
    'Milliseconds between two looks at the lag',
    1_000,
    milliseconds,
  ),
  housekeepingIntervalMs: integerSetting(
    'TOLLGATE_HOUSEKEEPING_INTERVAL_MS',
    'Milliseconds between two rounds of deleting what has expired',
    60_000,
    milliseconds,
  ),
  marksRetentionDays: integerSetting(
    'TOLLGATE_MARKS_RETENTION_DAYS',
    'Days a repeated idempotency key is known for one',
    35,
    days,
  ),
  windowsRetentionDays: integerSetting(
    'TOLLGATE_WINDOWS_RETENTION_DAYS',
    'Days the counters of an ended period are kept',
    35,
    // For so long they say what the period leaves to the next one, until that is settled.
    { ...days, min: 33 },
  ),
  slotsRetentionDays: integerSetting(
    'TOLLGATE_SLOTS_RETENTION_DAYS',
    'Days usage waits for its customer or purchase to be made',
    31,
    days,
  ),
  knownSubjectSlotsRetentionMinutes: integerSetting(
    'TOLLGATE_KNOWN_SUBJECT_SLOTS_RETENTION_MINUTES',
    'The same in minutes, for a customer that is known',
    10,
    // A first period counts records of the five minutes before it, which must still be there.
    { min: 10, max: 100_000 },
  ),
  sweepKeysMax: integerSetting(
    'TOLLGATE_SWEEP_KEYS_MAX',
    'Keys deleted from the hot state in one step',
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
