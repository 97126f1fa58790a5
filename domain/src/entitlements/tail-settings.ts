import { integerSetting } from '@tollgate/platform/config/settings'

const count = { min: 1, max: 100_000_000 }
const milliseconds = { min: 1, max: 3_600_000 }

/** Limits for answering limit checks while the counters are behind the log. */
export const tailSettings = {
  tailRecordsMax: integerSetting(
    'TOLLGATE_TAIL_RECORDS_MAX',
    'Records of the log that one limit check needs beyond the counters; past them ClickHouse is asked, or the answer is 503',
    200_000,
    count,
  ),
  tailBytesMax: integerSetting(
    'TOLLGATE_TAIL_BYTES_MAX',
    'Bytes of memory for the sums of the log beyond the counters, over all partitions; past them limit checks answer 503',
    134_217_728,
    { min: 1_048_576, max: 68_719_476_736 },
  ),
  tailFoldsMax: integerSetting(
    'TOLLGATE_TAIL_FOLDS_MAX',
    'Partitions whose log is read at a time for limit checks; the others wait for their turn',
    4,
    { min: 1, max: 1_000 },
  ),
  tailWaitMs: integerSetting(
    'TOLLGATE_TAIL_WAIT_MS',
    'Milliseconds a limit check waits for the log to be read beyond the counters; then it answers 503',
    5_000,
    milliseconds,
  ),
  countersStandstillMs: integerSetting(
    'TOLLGATE_COUNTERS_STANDSTILL_MS',
    'Milliseconds the counters may stand still before limit checks stop waiting for them',
    100,
    milliseconds,
  ),
  awaitedRecordsMax: integerSetting(
    'TOLLGATE_AWAITED_RECORDS_MAX',
    'Records the counters may be behind for limit checks to wait for them instead of reading the log',
    10_000,
    count,
  ),
}
