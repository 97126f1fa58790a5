import { randomBytes } from 'node:crypto'

/** Returns a source of names for requests that have none. Random once per process: a request costs no system call. */
export function createRequestIds(): () => string {
  const prefix = `req_${randomBytes(8).toString('hex')}_`
  let count = 0
  return () => prefix + (count++).toString(36)
}
