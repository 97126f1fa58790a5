import { integerSetting } from '@tollgate/platform/config/settings'

const count = { min: 1, max: 100_000_000 }
const milliseconds = { min: 1, max: 3_600_000 }

/** Limits for answering limit checks while the counters are behind the log. */
export const tailSettings = {
  tailRecordsMax: integerSetting(
    'TOLLGATE_TAIL_RECORDS_MAX',
    'Maximum records beyond the counters that one limit check reads from the log. If there are more, usage is read from ClickHouse, or the response is 503',
    200_000,
    count,
  ),
  tailBytesMax: integerSetting(
    'TOLLGATE_TAIL_BYTES_MAX',
    'Maximum memory for the sums of the log beyond the counters, in bytes, for all partitions together. Above it, limit checks respond with 503',
    134_217_728,
    { min: 1_048_576, max: 68_719_476_736 },
  ),
  tailFoldsMax: integerSetting(
    'TOLLGATE_TAIL_FOLDS_MAX',
    'Maximum partitions whose log is read concurrently for limit checks; other partitions wait',
    4,
    { min: 1, max: 1_000 },
  ),
  tailWaitMs: integerSetting(
    'TOLLGATE_TAIL_WAIT_MS',
    'How long a limit check waits for the log to be read beyond the counters, in milliseconds; after that, it responds with 503',
    5_000,
    milliseconds,
  ),
  countersStandstillMs: integerSetting(
    'TOLLGATE_COUNTERS_STANDSTILL_MS',
    'How long the counters may make no progress before limit checks stop waiting for them, in milliseconds',
    100,
    milliseconds,
  ),
  awaitedRecordsMax: integerSetting(
    'TOLLGATE_AWAITED_RECORDS_MAX',
    'Maximum records that the counters may be behind so that limit checks wait for them. Above it, limit checks read the log',
    10_000,
    count,
  ),
}
