/**
 * Redis is away, too slow, refuses calls for now, or has as many calls in hand as it may. The call may have had its effect
 * all the same.
 */
export class RedisUnavailableError extends Error {
  override readonly name = 'RedisUnavailableError'
}
