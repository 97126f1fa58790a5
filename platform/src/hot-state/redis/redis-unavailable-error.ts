/** Redis is away, too slow, or has as many calls in hand as it may; the call may have had its effect all the same. */
export class RedisUnavailableError extends Error {
  override readonly name = 'RedisUnavailableError'
}
