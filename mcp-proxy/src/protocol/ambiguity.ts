import { isPlainObject } from '@tollgate/schemas/json-object'
import { paramsOf } from './messages.ts'
import { endOfString } from './raw-json.ts'

/** Maximum depth of a body. Deeper values are not useful as tool arguments, and could exhaust the stack of recursive code. */
const depthMax = 128

/**
 * Returns a sentence about why an MCP server could read a body differently than the proxy, or undefined if only one reading is
 * possible. The server receives the client's original text. A server that uses the first of two members with the same name, or
 * ignores case in names, would run another tool than the one that was admitted and recorded. `text` is valid JSON and `body` is its
 * parsed value.
 */
export function ambiguityOf(text: string, body: unknown): string | undefined {
  return problemOfText(text) ?? [body].flat().map(problemOfNames).find(Boolean)
}

/** Checks the text, because a parsed value no longer shows duplicate members. */
function problemOfText(text: string): string | undefined {
  /** Names seen so far in each open object. The entry of an array is undefined. */
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

/**
 * Returns a name that some JSON parsers would match to a known one: they ignore case, or normalize compatibility characters of
 * Unicode.
 */
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
