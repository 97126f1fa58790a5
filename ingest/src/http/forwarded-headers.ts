import type { IncomingHttpHeaders } from 'undici/types/header.js'
import type { FallbackRequest } from './http-front.ts'

/** They belong to one connection, not to the message. The length and the date are set anew by whoever sends. */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'content-length',
  'expect',
  'date',
])

const forwarded: ReadonlySet<string> = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
])

/**
 * The headers that go on to the control plane, as a flat list of names and values. Whatever a client says about who
 * forwarded its request is believed only when we stand behind a proxy that sets it.
 */
export function requestHeaders(request: FallbackRequest, trustsForwarded: boolean): string[] {
  const connectionValues = request.headers
    .filter(([name]) => name === 'connection')
    .map(([, value]) => value)
  const dropped = namesIn(connectionValues)
  const flat: string[] = []
  const given = new Map<string, string>()
  for (const [name, value] of request.headers) {
    if (forwarded.has(name)) given.set(name, value)
    if (name === 'host') given.set(name, value)
    else if (!hopByHop.has(name) && !forwarded.has(name) && !dropped.has(name)) {
      flat.push(name, value)
    }
  }
  const from = trustsForwarded ? given : new Map<string, string>()
  const chain = from.get('x-forwarded-for')
  const { remoteAddress } = request
  flat.push('x-forwarded-for', chain === undefined ? remoteAddress : `${chain}, ${remoteAddress}`)
  flat.push('x-forwarded-proto', from.get('x-forwarded-proto') ?? 'http')
  const host = from.get('x-forwarded-host') ?? given.get('host')
  if (host !== undefined) flat.push('x-forwarded-host', host)
  return flat
}

/** The headers that go back to the client. */
export function answerHeaders(headers: IncomingHttpHeaders): [string, string][] {
  const list: [string, string][] = []
  const dropped = namesIn([headers['connection'] ?? []].flat())
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || hopByHop.has(name) || dropped.has(name)) continue
    if (Array.isArray(value)) list.push(...value.map((each): [string, string] => [name, each]))
    else list.push([name, value])
  }
  return list
}

/** The headers that a Connection header declares to belong to the connection as well. */
function namesIn(connectionValues: readonly string[]): ReadonlySet<string> {
  const names = connectionValues.flatMap((value) => value.split(','))
  return new Set(names.map((name) => name.trim().toLowerCase()))
}
