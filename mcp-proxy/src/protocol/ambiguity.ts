import { isPlainObject } from '@tollgate/schemas/json-object'
import { paramsOf } from './messages.ts'
import { endOfString } from './raw-json.ts'

/** Deeper values are no arguments of a tool, and could exhaust the stack of whoever walks through them. */
const depthMax = 128

/**
 * Returns why an MCP server could read a body in another way than the proxy, as a sentence; undefined if there is one reading.
 * The server gets the text that the client wrote: one that takes the first of two equal names, or reads names without regard to
 * case, would run another tool than the one that was allowed and recorded. `text` is valid JSON, and `body` what it holds.
 */
export function ambiguityOf(text: string, body: unknown): string | undefined {
  return problemOfText(text) ?? [body].flat().map(problemOfNames).find(Boolean)
}

/** Parsed values no longer show names that were there twice. */
function problemOfText(text: string): string | undefined {
  /** Names so far of the objects that are open; undefined for an array. */
  const open: (Set<string> | undefined)[] = []
  let name = ''
  for (let at = 0; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"': {
        const end = endOfString(text, at)
        name = text.slice(at, end)
        at = end - 1
        break
      }
      case '{':
        open.push(new Set())
        break
      case '[':
        open.push(undefined)
        break
      case '}':
      case ']':
        open.pop()
        break
      case ':': {
        const names = open.at(-1)!
        const plain = name.includes('\\') ? (JSON.parse(name) as string) : name.slice(1, -1)
        if (names.has(plain)) return 'The body has the same member twice.'
        names.add(plain)
      }
    }
    if (open.length > depthMax) return `The body is nested deeper than ${depthMax} levels.`
  }
  return undefined
}

const messageNames = ['jsonrpc', 'id', 'method', 'params', 'result', 'error']
const paramNames = ['name', 'arguments', '_meta', 'task', 'uri', 'requestState', 'inputResponses']

function problemOfNames(message: unknown): string | undefined {
  if (!isPlainObject(message)) return undefined
  const name =
    lookAlikeIn(Object.keys(message), messageNames) ??
    lookAlikeIn(Object.keys(paramsOf(message)), paramNames)
  return name === undefined ? undefined : `${JSON.stringify(name)} must be written in its own case.`
}

/** Some parsers of JSON take `Method` for `method`, and letters of Unicode for those that they stand for. */
function lookAlikeIn(names: readonly string[], known: readonly string[]): string | undefined {
  return names.find((name) => {
    if (known.includes(name)) return false
    const folded = fold(name)
    return known.some((each) => fold(each) === folded)
  })
}

function fold(name: string): string {
  return name.normalize('NFKC').toLowerCase()
}
