import { ClickHouseError } from '@clickhouse/client'
import { UsageStoreStatementError, UsageStoreUnavailableError } from '../usage-store.ts'

/**
 * Numbers of temporary ClickHouse errors: timeouts, overload, full disks, and network failures between its parts. The client
 * reports only ClickHouse's number, no HTTP status.
 */
const temporary = new Set([
  159, // TIMEOUT_EXCEEDED
  198, // DNS_ERROR
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  225, // NO_ZOOKEEPER
  236, // ABORTED, by a shutdown
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  745, // SERVER_OVERLOADED
  999, // KEEPER_EXCEPTION
])

/**
 * Converts an error of the client. Network failures, timeouts and responses of a proxy (such as 502) have no ClickHouse number and
 * count as unavailable.
 */
export function toUsageStoreError(error: unknown): Error {
  if (!(error instanceof ClickHouseError)) {
    const message = error instanceof Error ? error.message || error.name : String(error)
    return new UsageStoreUnavailableError(`ClickHouse did not answer: ${message}`, { cause: error })
  }
  const code = Number(error.code)
  const text = `ClickHouse error ${code} (${error.type ?? ''}): ${error.message.trim()}`
  if (temporary.has(code)) return new UsageStoreUnavailableError(text, { cause: error })
  return new UsageStoreStatementError(text, code, error.type ?? '', { cause: error })
}
