import type { IncomingHttpHeaders } from 'node:http'
import { isPlainObject, isStorableText } from '@tollgate/schemas/json-object'
import {
  errorCodes,
  errorMessage,
  idOf,
  isCall,
  isMessage,
  metaOf,
  methodOf,
  type Message,
} from './messages.ts'
import { mismatchOf } from './request-headers.ts'
import { envelope, isStateless, sessionVersions, statelessVersions } from './versions.ts'

export type Classified =
  | { readonly kind: 'sessions'; readonly messages: readonly Message[]; readonly isBatch: boolean }
  | { readonly kind: 'stateless'; readonly message: Message }
  /** A notification under a stateless version. These versions have no notifications over HTTP, so it is accepted and dropped. */
  | { readonly kind: 'dropped' }
  | { readonly kind: 'refused'; readonly status: number; readonly answer: Message }

/**
 * Returns the protocol era of a POST. The body decides. A header alone never makes a request stateless, because clients of both
 * eras begin with the same probe.
 */
export function classify(
  body: unknown,
  headers: IncomingHttpHeaders,
  batchMax: number,
): Classified {
  if (Array.isArray(body)) return classifyBatch(body, headers, batchMax)
  if (!isMessage(body)) {
    return refused(400, null, errorCodes.invalidRequest, 'The body is not a JSON-RPC message.')
  }
  const version = headers['mcp-protocol-version']
  const hasStatelessHeader = typeof version === 'string' && isStateless(version)
  if (!isCall(body)) return sessions(body, version)
  const problem = idProblem(body)
  if (problem !== undefined) return refused(400, null, errorCodes.invalidRequest, problem)
  const id = idOf(body)
  if (id === undefined) {
    return hasStatelessHeader ? { kind: 'dropped' } : sessions(body, version)
  }
  if (envelope.protocolVersion in metaOf(body)) return classifyStateless(body, headers)
  if (!hasStatelessHeader) return sessions(body, version)
  return methodOf(body) === 'initialize'
    ? refused(400, id, errorCodes.headerMismatch, `initialize does not exist in MCP ${version}.`)
    : refused(400, id, errorCodes.invalidParams, `_meta["${envelope.protocolVersion}"] is missing.`)
}

function classifyStateless(message: Message, headers: IncomingHttpHeaders): Classified {
  const id = idOf(message)!
  const meta = metaOf(message)
  const version = meta[envelope.protocolVersion]
  if (typeof version !== 'string') {
    const text = `_meta["${envelope.protocolVersion}"] must be a string.`
    return refused(400, id, errorCodes.invalidParams, text)
  }
  if (!isPlainObject(meta[envelope.clientCapabilities])) {
    const text = `_meta["${envelope.clientCapabilities}"] must be an object.`
    return refused(400, id, errorCodes.invalidParams, text)
  }
  const mismatch = mismatchOf(message, version, headers)
  if (mismatch !== undefined) return refused(400, id, errorCodes.headerMismatch, mismatch)
  if (statelessVersions.has(version)) return { kind: 'stateless', message }
  const data = { supported: [...statelessVersions], requested: version }
  const text = `MCP ${version} is not supported.`
  return {
    kind: 'refused',
    status: 400,
    answer: errorMessage(id, errorCodes.unsupportedVersion, text, data),
  }
}

/** Batches exist only in 2025-03-26. */
function classifyBatch(
  items: readonly unknown[],
  headers: IncomingHttpHeaders,
  batchMax: number,
): Classified {
  const invalid = (text: string): Classified => refused(400, null, errorCodes.invalidRequest, text)
  if (items.length === 0) return invalid('The batch is empty.')
  if (items.length > batchMax) return invalid(`A batch holds at most ${batchMax} messages.`)
  const messages: Message[] = []
  for (const item of items) {
    if (!isMessage(item)) return invalid('The batch holds something that is not JSON-RPC.')
    if (envelope.protocolVersion in metaOf(item)) {
      return invalid('Requests of MCP 2026-07-28 are sent one by one.')
    }
    if (methodOf(item) === 'initialize') return invalid('initialize is sent alone.')
    const problem = isCall(item) ? idProblem(item) : undefined
    if (problem !== undefined) return invalid(problem)
    messages.push(item)
  }
  const version = headers['mcp-protocol-version']
  const problem = versionProblem(version)
  return problem ?? { kind: 'sessions', messages, isBatch: true }
}

/**
 * Returns what is wrong with the id of a request. A request without a valid id must not pass as a notification: some servers would
 * execute it, and the call would not be recorded.
 */
function idProblem(message: Message): string | undefined {
  const id = idOf(message)
  // Some servers truncate fractions, and read each lone surrogate as U+FFFD. Two different ids would then be equal at the server.
  const isExact = typeof id === 'string' ? isStorableText(id) : Number.isSafeInteger(id ?? 0)
  if (!isExact) {
    return 'The id of a request must be a string of Unicode without U+0000, or an integer between -2^53 and 2^53.'
  }
  if (id !== undefined) return undefined
  if ('id' in message) return 'The id of a request must be a string or a number.'
  return methodOf(message).startsWith('notifications/') ? undefined : 'A request needs an id.'
}

function sessions(message: Message, version: string | string[] | undefined): Classified {
  return versionProblem(version) ?? { kind: 'sessions', messages: [message], isBatch: false }
}

function versionProblem(version: string | string[] | undefined): Classified | undefined {
  if (version === undefined || sessionVersions.has(String(version))) return undefined
  // A response or notification with the header of a stateless version belongs to no session, so it is refused because of its
  // version.
  const known = [...sessionVersions, ...statelessVersions].join(', ')
  const text = `Unsupported protocol version ${String(version)}. Supported: ${known}.`
  return refused(400, null, errorCodes.refused, text)
}

function refused(
  status: number,
  id: string | number | null,
  code: number,
  text: string,
): Classified {
  return { kind: 'refused', status, answer: errorMessage(id, code, text) }
}
