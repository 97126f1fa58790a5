/**
 * Redis is unavailable, too slow, temporarily refuses calls, or has reached the limit of concurrent calls. The call may have been
 * executed.
 */
export class RedisUnavailableError extends Error {
  override readonly name = 'RedisUnavailableError'
}
