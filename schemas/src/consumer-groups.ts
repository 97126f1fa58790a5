/**
 * The groups whose positions say how far the log has been used. The log may be trimmed behind both, and by its writer
 * only; HotState owns the counters' true position, `countersGroup` follows it for the trimmer's sake.
 */
export const sinkGroup = 'clickhouse-sink'
export const countersGroup = 'counters'
