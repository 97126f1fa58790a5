import { randomFillSync } from 'node:crypto'

const idBytes = 12
const poolIds = 512

/**
 * Returns a function that names requests which have no name. The whole name is random, because a counter would show a client how
 * many requests others send. Random bytes are drawn for many names at once, because a system call per request is too expensive.
 */
export function createRequestIds(): () => string {
  const pool = Buffer.alloc(idBytes * poolIds)
  let next = pool.length
  return () => {
    if (next === pool.length) {
      randomFillSync(pool)
      next = 0
    }
    const id = pool.toString('hex', next, next + idBytes)
    next += idBytes
    return `req_${id}`
  }
}
