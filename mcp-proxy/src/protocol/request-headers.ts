import type { IncomingHttpHeaders } from 'node:http'
import { methodOf, paramsOf, type Message } from './messages.ts'

/** The member of `params` that `Mcp-Name` repeats. */
const namedBy: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
])

/**
 * Returns how the headers of a stateless request contradict its body, as a sentence; undefined if they agree. Others on the way
 * route and limit by these headers, so that a request must not say one thing there and another one inside.
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

/** Text that ASCII does not hold comes as `=?base64?…?=` over UTF-8. Returns undefined for a marker around anything else. */
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
