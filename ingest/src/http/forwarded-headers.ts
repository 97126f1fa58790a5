import type { IncomingHttpHeaders } from 'undici/types/header.js'
import { requestIdHeader } from '@tollgate/schemas/http/request-id'
import { forwardedIgnoredHeader } from '@tollgate/schemas/http/forwarded'
import type { FallbackRequest } from './http-front.ts'
import {
  clientAddressOf,
  isTrusted,
  type TrustedProxies,
} from '@tollgate/platform/service/trusted-proxies'

/** Headers that belong to one connection, not to the message. Each sender sets the length, the date and the request id itself. */
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
  requestIdHeader,
])

const forwarded: ReadonlySet<string> = new Set([
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
])

/**
 * Returns the headers that are forwarded to the control plane, as a flat list of names and values. X-Forwarded-For contains only
 * the client's address. Incoming X-Forwarded headers are believed only from a trusted proxy; `onIgnored` is called with the address
 * of any other peer that sends X-Forwarded-For.
 */
export function requestHeaders(
  request: FallbackRequest,
  trusted: TrustedProxies,
  onIgnored: (peer: string) => void,
): string[] {
  const connectionValues = request.headers
    .filter(([name]) => name === 'connection')
    .map(([, value]) => value)
  const dropped = namesIn(connectionValues)
  const flat: string[] = []
  const given = new Map<string, string>()
  for (const [name, value] of request.headers) {
    if (name === 'host') given.set(name, value)
    else if (forwarded.has(name)) {
      const before = given.get(name)
      given.set(name, before === undefined ? value : `${before}, ${value}`)
    } else if (!hopByHop.has(name) && !dropped.has(name)) flat.push(name, value)
  }
  const { remoteAddress } = request
  const forwardedFor = given.get('x-forwarded-for')
  const isFromProxy = isTrusted(trusted, remoteAddress)
  if (!isFromProxy && forwardedFor !== undefined) onIgnored(remoteAddress)
  // The start page of a demo treats a request that may have come through a proxy with more caution.
  const isIgnored = !isFromProxy && [...forwarded].some((name) => given.has(name))
  if (isIgnored) flat.push(forwardedIgnoredHeader, 'yes')
  const from = isFromProxy ? given : new Map<string, string>()
  const client =
    forwardedFor === undefined
      ? remoteAddress
      : clientAddressOf(trusted, remoteAddress, forwardedFor)
  flat.push(requestIdHeader, request.requestId)
  flat.push('x-forwarded-for', client)
  flat.push('x-forwarded-proto', from.get('x-forwarded-proto') ?? 'http')
  const host = from.get('x-forwarded-host') ?? given.get('host')
  if (host !== undefined) flat.push('x-forwarded-host', host)
  return flat
}

/** Returns the headers of the control plane's response that are sent to the client. */
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

/** Returns the names of headers that a Connection header declares to belong to the connection. */
function namesIn(connectionValues: readonly string[]): ReadonlySet<string> {
  const names = connectionValues.flatMap((value) => value.split(','))
  return new Set(names.map((name) => name.trim().toLowerCase()))
}
