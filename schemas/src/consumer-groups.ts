/**
 * The consumer groups of the two projections. Only the writer of the log may trim it, and only up to the positions of both groups.
 * The counters' actual position is in HotState; `countersGroup` follows it for the trimmer.
 */
export const sinkGroup = 'clickhouse-sink'
export const countersGroup = 'counters'
