import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** `owner`: the services, with all rights. `reader`: people and tools that read usage and change nothing. */
export type GatewayUser = 'owner' | 'reader'

export const ownerName = 'default'
export const readerName = 'data_team'

type Login = { readonly name: string; readonly password: string }

export type Passwords = {
  readonly owner: string
  /** Password of the reader. Undefined refuses that user. */
  readonly reader: string | undefined
}

/** Returns the user of a request, or undefined if the name or the password is wrong. */
export function createLoginCheck(
  passwords: Passwords,
): (request: IncomingMessage) => GatewayUser | undefined {
  const expected = new Map([[ownerName, digest(passwords.owner)]])
  if (passwords.reader !== undefined) expected.set(readerName, digest(passwords.reader))
  return (request) => {
    const login = loginOf(request)
    const known = login && expected.get(login.name)
    if (known === undefined || !timingSafeEqual(digest(login!.password), known)) return undefined
    return login!.name === readerName ? 'reader' : 'owner'
  }
}

/** Returns name and password as ClickHouse clients send them: in headers, basic authorization or the URL. */
function loginOf(request: IncomingMessage): Login | undefined {
  const key = request.headers['x-clickhouse-key']
  if (typeof key === 'string') {
    const user = request.headers['x-clickhouse-user']
    return { name: typeof user === 'string' ? user : ownerName, password: key }
  }
  const match = /^Basic (\S+)$/i.exec(request.headers.authorization ?? '')
  if (match?.[1] !== undefined) {
    const pair = Buffer.from(match[1], 'base64').toString('utf8')
    const colon = pair.indexOf(':')
    return colon < 0
      ? undefined
      : { name: pair.slice(0, colon) || ownerName, password: pair.slice(colon + 1) }
  }
  const { searchParams } = new URL(request.url ?? '/', 'http://gateway')
  const password = searchParams.get('password')
  if (password === null) return undefined
  return { name: searchParams.get('user') || ownerName, password }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
