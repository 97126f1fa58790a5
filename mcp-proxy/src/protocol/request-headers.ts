import type { IncomingHttpHeaders } from 'node:http'
import { methodOf, paramsOf, type Message } from './messages.ts'

/** The member of `params` that the header `Mcp-Name` repeats, by method. */
const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/**
 * Returns a sentence about how the headers of a stateless request contradict its body, or undefined if they agree. Intermediaries
 * route and limit by these headers, so they must match the body.
 */
export function mismatchOf(
  message: Message,
  version: string,
  headers: IncomingHttpHeaders,
): string | undefined {
  const expected: [name: string, value: unknown][] = [
    ['MCP-Protocol-Version', version],
    ['Mcp-Method', methodOf(message)],
  ]
  const member = namedBy.get(methodOf(message))
  if (member !== undefined) expected.push(['Mcp-Name', paramsOf(message)[member]])
  for (const [name, value] of expected) {
    const text = headers[name.toLowerCase()]
    if (typeof text !== 'string') return `The header ${name} is missing.`
    const decoded = decodeHeader(text)
    if (decoded === undefined) return `The header ${name} cannot be decoded.`
    if (decoded !== value) return `The header ${name} does not match the body.`
  }
  return undefined
}

/**
 * Decodes a header value. Text outside ASCII is sent as UTF-8 in the form `=?base64?…?=`. Returns undefined if the content of that
 * form is invalid.
 */
function decodeHeader(text: string): string | undefined {
  const [, encoded] = /^=\?base64\?(.*)\?=$/i.exec(text) ?? []
  if (encoded === undefined) return text
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
  } catch {
    return undefined
  }
}
