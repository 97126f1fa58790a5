import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** The password as ClickHouse clients send it: `X-ClickHouse-Key`, or basic authorization. The user's name is not looked at. */
function passwordOf(request: IncomingMessage): string | undefined {
  const key = request.headers['x-clickhouse-key']
  if (typeof key === 'string') return key
  const match = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '')
  if (match?.[1] === undefined) return undefined
  const pair = Buffer.from(match[1], 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : pair.slice(colon + 1)
}

export function createPasswordCheck(password: string): (request: IncomingMessage) => boolean {
  const expected = digest(password)
  return (request) => {
    const given = passwordOf(request)
    return given !== undefined && timingSafeEqual(digest(given), expected)
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
